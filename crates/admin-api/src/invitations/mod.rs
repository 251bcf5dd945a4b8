//! Invitations, by the token of the mail's link.

pub mod accept;
pub mod look_up;
