//! Who calls, and whether they may. The only modules that reach the database for handlers: [`Call`] opens the
//! transaction after it has decided, so a handler that forgets to ask has nothing to work with.

mod access;
pub mod caller;
pub mod cookie;
pub mod csrf;
pub mod jwt;
pub mod mailed;
pub mod open;
pub mod policy;
pub mod second_factor;
pub mod throttle;

pub use access::{Audit, Call, Reads};
pub use caller::Caller;
pub use open::Open;
pub use policy::Policy;
