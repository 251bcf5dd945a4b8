//! Who may call which operation: one type per rule, named in the handler's signature and on the router's page.

use api_types::service_token::TokenScope;
use api_types::session::Role;

/// A rule. People need one of the roles, service tokens one of the scopes.
pub trait Policy: Send + Sync + 'static {
    /// Roles of people that may.
    const ROLES: &'static [Role];
    /// Scopes of service tokens of which one is needed; empty: no service token may.
    const SCOPES: &'static [TokenScope];
    /// True where the operation concerns the whole platform, so that a token limited to some tenants may not.
    const PLATFORM: bool;
}

const O: &[Role] = &[Role::Owner];
const P: &[Role] = &[Role::Owner, Role::Operator];
const V: &[Role] = &[Role::Owner, Role::Operator, Role::Viewer];
/// Platform roles that read, and any role of the tenant.
const V_T: &[Role] = &[Role::Owner, Role::Operator, Role::Viewer, Role::TenantOwner, Role::TenantViewer];
/// Platform roles that read, and the tenant's owner.
const V_TO: &[Role] = &[Role::Owner, Role::Operator, Role::Viewer, Role::TenantOwner];
/// The platform's owner, and the tenant's.
const O_T: &[Role] = &[Role::Owner, Role::TenantOwner];
/// Platform roles that change, and the tenant's owner.
const P_T: &[Role] = &[Role::Owner, Role::Operator, Role::TenantOwner];

macro_rules! policies {
    ($($(#[$doc:meta])* $name:ident: $roles:expr, [$($scope:ident),*], platform: $platform:literal;)*) => {$(
        $(#[$doc])*
        #[derive(Debug)]
        pub enum $name {}

        impl Policy for $name {
            const ROLES: &'static [Role] = $roles;
            const SCOPES: &'static [TokenScope] = &[$(TokenScope::$scope),*];
            const PLATFORM: bool = $platform;
        }
    )*};
}

policies! {
    /// Any signed-in person, about themselves.
    AnyPerson: V_T, [], platform: false;
    /// Invite, change and remove people.
    ManagePeople: O_T, [], platform: false;
    /// Read the audit log.
    ReadAudit: V_TO, [AuditRead], platform: false;
    /// Manage service tokens.
    ManageServiceTokens: O, [], platform: true;
    /// Read tenants.
    ReadTenants: V_T, [TenantsRead], platform: false;
    /// Change tenants.
    WriteTenants: P, [TenantsWrite], platform: false;
    /// Create tenants.
    CreateTenants: P, [TenantsWrite], platform: true;
    /// Read the four numbers.
    ReadQuota: V_T, [QuotaRead], platform: false;
    /// Repair Redis' copy and end freezes by hand.
    WriteLedger: P, [LedgerWrite], platform: false;
    /// Read comparisons of both copies, and what they saw.
    ReadLedger: V, [LedgerWrite], platform: true;
    /// Compare both copies.
    Reconcile: P, [LedgerWrite], platform: true;
    /// Read alerts.
    ReadAlerts: V_T, [], platform: false;
    /// Take note of alerts.
    AcknowledgeAlerts: P, [], platform: true;
    /// Manage shared pools.
    ManagePools: P, [PoolsWrite], platform: true;
    /// Change a tenant's quota.
    ChangeQuota: P, [QuotaWrite], platform: false;
    /// Change the budgets of a tenant's projects and keys.
    ChangeOwnQuota: P_T, [QuotaWrite], platform: false;
    /// Read grants.
    ReadGrants: V_T, [GrantsRead], platform: false;
    /// Add grants.
    WriteGrants: P, [GrantsWrite], platform: false;
    /// Read projects.
    ReadProjects: V_T, [ProjectsRead, ProjectsWrite], platform: false;
    /// Create projects.
    WriteProjects: P_T, [ProjectsWrite], platform: false;
    /// Read keys.
    ReadKeys: V_T, [KeysRead, KeysWrite], platform: false;
    /// Create and change keys.
    WriteKeys: P_T, [KeysWrite], platform: false;
    /// Read models and targets.
    ReadModels: V, [ModelsRead, ModelsWrite], platform: true;
    /// Change models and targets.
    WriteModels: P, [ModelsWrite], platform: true;
    /// Read prices.
    ReadPrices: V, [PricesRead, PricesWrite], platform: true;
    /// Add prices.
    WritePrices: P, [PricesWrite], platform: true;
    /// Simulate other prices on recorded requests.
    SimulatePrices: P, [UsageRead], platform: true;
    /// Read upstreams.
    ReadUpstreams: V, [UpstreamsRead, UpstreamsWrite], platform: true;
    /// Change upstreams.
    WriteUpstreams: P, [UpstreamsWrite], platform: true;
    /// Read recorded requests.
    ReadUsage: V_T, [UsageRead], platform: false;
    /// Charge usage that was metered elsewhere.
    WriteUsage: P, [UsageWrite], platform: false;
    /// Read figures of the whole platform.
    ReadPlatform: V, [], platform: true;
    /// Change settings of the whole platform, and its secrets.
    ManagePlatform: O, [], platform: true;
    /// Manage webhook endpoints.
    WriteWebhooks: P_T, [WebhooksWrite], platform: false;
    /// Read the feed of events.
    ReadEvents: V_T, [EventsRead], platform: false;
}
