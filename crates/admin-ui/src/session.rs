//! Who is signed in. A client without a session shows the sign-in form at the same address, so that signing in leads back
//! to where one was.

use api_types::session::{Role, Session as Who};
use leptos::prelude::*;
use leptos::task::spawn_local;

use crate::api::{Failure, people};

/// What is known about the session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Status {
    /// Asked, not yet answered.
    Unknown,
    /// Nobody; true where a session ran out while someone worked.
    SignedOut {
        /// Whether to say why the form is there.
        expired: bool,
    },
    /// Somebody.
    SignedIn(Box<Who>),
    /// The API did not answer at all.
    Unreachable,
}

/// The session, shared by the whole console.
#[derive(Debug, Clone, Copy)]
pub struct Session(RwSignal<Status>);

impl Session {
    /// Asks the API who is signed in.
    #[must_use]
    pub fn start() -> Self {
        let session = Self(RwSignal::new(Status::Unknown));
        session.ask();
        session
    }

    /// Asks again.
    pub fn ask(self) {
        spawn_local(async move {
            let status = match people::session().await {
                Ok(who) => Status::SignedIn(Box::new(who)),
                Err(failure) if failure.is_signed_out() => Status::SignedOut { expired: false },
                Err(_) => Status::Unreachable,
            };
            self.0.set(status);
        });
    }

    /// What is known; tracks.
    #[must_use]
    pub fn status(self) -> Status {
        self.0.get()
    }

    /// Signed in as `who`.
    pub fn enter(self, who: Who) {
        self.0.set(Status::SignedIn(Box::new(who)));
    }

    /// Signed out on purpose.
    pub fn leave(self) {
        self.0.set(Status::SignedOut { expired: false });
    }

    /// Looks at a failed call: one that says nobody is signed in ends the session here too.
    pub fn note(self, failure: &Failure) {
        if failure.is_signed_out() && matches!(*self.0.read_untracked(), Status::SignedIn(_)) {
            self.0.set(Status::SignedOut { expired: true });
        }
    }

    /// The person's roles; tracks.
    fn roles(self) -> Vec<Role> {
        match &*self.0.read() {
            Status::SignedIn(who) => who.roles.clone(),
            _ => Vec::new(),
        }
    }

    /// May create tenants and grants.
    #[must_use]
    pub fn may_operate(self) -> bool {
        self.roles().iter().any(|role| matches!(role, Role::Owner | Role::Operator))
    }

    /// Belongs to the platform, not to a tenant: may read models and upstreams.
    #[must_use]
    pub fn is_platform(self) -> bool {
        self.roles().iter().any(|role| matches!(role, Role::Owner | Role::Operator | Role::Viewer))
    }

    /// Owns the platform: may make service tokens.
    #[must_use]
    pub fn is_owner(self) -> bool {
        self.roles().contains(&Role::Owner)
    }

    /// May invite people: those of the platform, or those of one's own tenant.
    #[must_use]
    pub fn may_manage_people(self) -> bool {
        self.roles().iter().any(|role| matches!(role, Role::Owner | Role::TenantOwner))
    }

    /// May read what was changed.
    #[must_use]
    pub fn may_audit(self) -> bool {
        self.is_platform() || self.may_own()
    }

    /// May create projects and keys.
    #[must_use]
    pub fn may_own(self) -> bool {
        self.roles().iter().any(|role| matches!(role, Role::Owner | Role::Operator | Role::TenantOwner))
    }
}
