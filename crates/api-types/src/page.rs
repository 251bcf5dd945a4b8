//! Lists.

use serde::{Deserialize, Serialize};

/// One page of a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Page<T> {
    /// The page's entries, in the order asked for.
    pub items: Vec<T>,
    /// Given back as `cursor` for the page that follows; null at the end.
    pub next_cursor: Option<String>,
}
