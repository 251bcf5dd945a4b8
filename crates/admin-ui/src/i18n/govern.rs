//! Texts of audit, people, one's own account, settings and the system.

texts! {
    audit: "Audit" | "审计";
    audit_hint: "Every change: who made it, of what, from where. Entries are never altered." | "每次更改的操作者、对象与来源，记录不可修改。";
    no_audit_hint: "No change fits these filters." | "没有符合筛选条件的更改。";
    who: "Who" | "操作者";
    from_where: "From" | "来源";
    target_id: "Of what (id)" | "对象编号";

    users: "Users" | "用户";
    users_hint: "People of the platform and of tenants. They are invited by mail and choose their own password." | "平台与租户的用户，通过邮件邀请并自行设置密码。";
    person: "Person" | "人员";
    role_word: "Role" | "角色";
    role_hint: "Operators do everything but people, tokens and settings; viewers read." | "运营人员可执行除用户、令牌与设置外的全部操作，只读用户仅可查看。";
    second_factor: "Second factor" | "两步验证";
    last_seen: "Last seen" | "最近活动";
    no: "no" | "否";
    invite: "Invite" | "邀请";
    invite_somebody: "Invite somebody" | "邀请用户";
    send_invitation: "Send the invitation" | "发送邀请";
    invited: "Invited" | "已邀请";
    members: "Members" | "成员";
    no_users: "Nobody yet" | "暂无用户";
    no_users_hint: "Whoever you invite gets a mail with a link." | "被邀请者将收到带链接的邮件。";
    remove: "Remove" | "移除";
    tenant_id: "Tenant id" | "租户编号";
    tenant_id_hint: "Whose data the person sees, t_…" | "该用户可见的租户，t_…";
    language_of_mails: "Language of mails" | "邮件语言";
    change_person: "Change a person" | "修改用户";
    person_changed: "The person is changed" | "用户已修改";
    disable_person: "May not sign in" | "禁止登录";
    disable_person_hint: "Ends every session at once." | "立即结束其所有会话。";
    drop_factor: "Remove the second factor" | "移除两步验证";
    drop_factor_hint: "For somebody who has lost phone and recovery codes." | "适用于丢失手机与恢复码的用户。";
    remove_person: "Remove this person?" | "移除此用户？";
    remove_person_words: "Every session ends, and the invitation is void. The audit log keeps what was done." | "其所有会话将结束，邀请失效；审计记录保留。";
    person_removed: "The person is removed" | "用户已移除";

    account: "Your account" | "我的账户";
    account_hint: "Where you are signed in, and how you prove who you are." | "登录会话与身份验证方式。";
    present_password: "Present password" | "当前密码";
    password_changed: "Your password is changed; your other sessions have ended" | "密码已修改，其他会话已结束";
    sessions: "Sessions" | "会话";
    no_sessions: "No sessions." | "没有会话。";
    this_session: "This one" | "当前会话";
    end_session: "End" | "结束";
    session_ended: "The session has ended" | "会话已结束";
    factor_on: "On" | "已开启";
    factor_off: "Off" | "未开启";
    factor_hint: "A code from an authenticator besides the password: a stolen password alone then opens nothing." | "登录时除密码外还需验证器动态码，仅密码泄露时他人无法登录。";
    set_up_factor: "Set up a second factor" | "设置两步验证";
    scan_it: "Scan the picture with an authenticator, then type its first code." | "用验证器扫描二维码，然后输入动态码。";
    qr_label: "QR code of the secret that stands below it" | "下方密钥的二维码";
    confirm_code: "Switch it on" | "开启";
    remove_factor: "Remove the second factor" | "移除两步验证";
    remove_factor_words: "From then on your password alone lets you in." | "移除后仅凭密码即可登录。";
    factor_removed: "The second factor is removed" | "两步验证已移除";
    recovery_codes: "Recovery codes" | "恢复码";
    recovery_codes_hint: "Each is taken once in place of a code, for the day the phone is gone." | "手机丢失时每个恢复码可代替动态码使用一次。";

    platform_settings_hint: "Of the whole platform." | "适用于整个平台。";
    mail: "Mail" | "邮件";
    mail_from: "Sender" | "发件人";
    mail_from_hint: "Such as Tollgate <quota@example.com>; empty: as the reconciler was told." | "例如 Tollgate <quota@example.com>；留空则使用对账服务的配置。";
    new_tenants: "New tenants" | "新租户默认值";
    retention: "How long things are kept" | "保留期限";
    retention_hint: "Settlements, statements, sums of usage and the audit log are always kept." | "结算、账单、用量汇总与审计记录永久保留。";
    keep_records: "Records of single requests" | "单个请求的记录";
    keep_events: "Events and deliveries" | "事件与投递记录";
    keep_snapshots: "Snapshots of the comparison" | "对账快照";
    days_or_ever: "Days; empty: for ever." | "天数；留空为永久。";
    owner_only: "Only a platform owner may change these." | "仅平台所有者可修改。";

    system: "System" | "系统";
    system_hint: "What serves, in which version, and how the books compare." | "运行中的服务、版本与对账情况。";
    service: "Service" | "服务";
    services: "Services" | "服务列表";
    comparisons: "Comparisons of the books" | "对账记录";
    no_comparisons: "The books were not compared yet." | "尚未进行对账。";
    comparison_begun: "The comparison has begun" | "对账已开始";
    compare_now: "Compare now" | "立即对账";
    accounts: "Accounts" | "账户";
    differences: "Differences" | "差异";
    repaired: "Repaired" | "已修复";
    comparison_running: "Running" | "进行中";
    comparison_done: "Done" | "完成";
    comparison_failed: "Failed" | "失败";
}
