//! Texts of a tenant's settings, limits, quota changes and live books.

texts! {
    settings: "Settings" | "设置";
    live_books: "Live" | "实时";
    general: "General" | "基本信息";
    save_settings: "Save settings" | "保存设置";
    settings_saved: "Settings saved" | "设置已保存";
    read_again: "Read again" | "重新读取";
    changed_meanwhile: "Somebody changed it since this page read it. Read it again and repeat your change on what it is now." | "自本页读取之后已被他人修改。请重新读取，再在最新内容上修改。";

    credit_line_hint: "For customers who pay afterwards; 0: none." | "面向后付费客户；0 表示没有。";
    allow_overdraft: "Allow an overdraft" | "允许透支";
    allow_overdraft_hint: "Calls go on above total and credit line, announced by a header." | "超出总额与信用额度后调用仍可继续，并以响应头告知。";
    overdraft_as: "Overdraft as" | "透支方式";
    as_percent: "percent of total" | "占总额百分比";
    as_amount: "amount" | "固定数额";
    overdraft_percent: "Overdraft, percent" | "透支百分比";
    overdraft_amount: "Overdraft, amount" | "透支数额";
    hard_stop_words: "Hard stop" | "硬停止";
    hard_stop_hint: "Neither credit line nor overdraft counts; streams end when nothing remains." | "信用额度与透支均不计；余额用尽时流式输出随即结束。";
    multiplier_hint: "Every charge is multiplied by it, such as 0.95." | "每笔费用都乘以该倍率，例如 0.95。";
    tolerance: "Settle tolerance" | "结算容差";
    tolerance_hint: "The part of a freeze that may turn into debt without an alert; 0.05 is 5 %." | "冻结额中可转为欠费而不告警的比例；0.05 即 5 %。";
    thresholds: "Warn at percent used" | "已用百分比告警阈值";
    thresholds_hint: "Whole percentages with commas, such as 80, 90, 100." | "以逗号分隔的整数百分比，例如 80, 90, 100。";
    warnings: "Warnings" | "告警";

    limits: "Limits" | "限制";
    limit: "Limit" | "限制";
    limits_in_use: "Present use of limits" | "限制的当前用量";
    limits_hint: "Empty: none. In force on every gateway at once." | "留空表示不限。保存后立即在所有网关生效。";
    used_up: "Used up" | "用量";
    no_limits_set: "No limits are set." | "未设置任何限制。";
    rpm: "Requests a minute" | "每分钟请求数";
    rpd: "Requests a day" | "每天请求数";
    tpm: "Tokens a minute" | "每分钟 token 数";
    tpd: "Tokens a day" | "每天 token 数";
    at_once: "Requests at once" | "并发请求数";
    max_per_request: "Most for one request" | "单次请求上限";
    save_limits: "Save limits" | "保存限制";
    limits_saved: "Limits saved" | "限制已保存";

    outage: "While the ledger is away" | "账本不可用时";
    outage_hint: "Steps in order; the last one may go on until the ledger is back." | "按顺序执行；最后一步可持续到账本恢复。";
    step: "Step" | "步骤";
    mode: "Mode" | "模式";
    seconds: "Seconds" | "秒数";
    until_back: "Empty: until it is back." | "留空：直到恢复。";
    add_step: "Add step" | "添加步骤";
    remove_step: "Remove step" | "移除步骤";
    mode_deny: "deny: refuse" | "deny：拒绝";
    mode_allowance: "allowance: a bounded part of what was left" | "allowance：仅放行剩余额度的一部分";
    mode_bypass: "bypass: admit, bill afterwards" | "bypass：放行，事后计费";

    suspend: "Suspend tenant" | "暂停租户";
    suspend_words: "No gateway admits a call of this tenant from then on. Running calls end as they would. It can be resumed." | "此后所有网关都不再接受该租户的调用，正在进行的调用照常结束。之后可以恢复。";
    resume: "Resume tenant" | "恢复租户";
    resume_words: "Calls of this tenant are admitted again." | "将重新接受该租户的调用。";
    suspended_now: "Tenant suspended" | "租户已暂停";
    resumed_now: "Tenant resumed" | "租户已恢复";
    access: "Access" | "访问";
    reason: "Reason" | "原因";
    reason_hint: "Kept in the audit log." | "将记入审计日志。";

    change_quota: "Change quota" | "调整额度";
    change_budget: "Change budget" | "调整预算";
    change_by: "By" | "变化量";
    change_by_hint: "Such as 500 or -500. What is used and in flight stays covered." | "例如 500 或 -500。已用与在途部分始终有保障。";
    recurring: "Also in every coming period" | "以后每个周期同样适用";
    recurring_hint: "Changes the plan or budget, not only this period." | "不仅调整本周期，也调整套餐或预算。";
    before: "Before" | "之前";
    change: "Change" | "变化";
    after: "After" | "之后";
    before_and_after: "Before and after" | "前后对比";
    below_committed: "The total would be below what is used and in flight. Nothing was changed." | "总额将低于已用与在途之和。未作任何改动。";
    quota_changes: "Quota changes" | "额度调整记录";
    no_quota_changes: "No changes yet" | "还没有调整记录";
    no_quota_changes_hint: "Every change by a delta is kept here, with its reason." | "每次增减及其原因都会记录在这里。";
    when: "When" | "时间";
    made_by: "By whom" | "操作者";
    at_most: "at most" | "最多";

    end_grant: "End grant" | "终止授予";
    grant_ended: "Grant ended" | "授予已终止";

    freezes_now: "Freezes now" | "当前冻结";
    no_freezes: "Nothing is in flight" | "当前没有在途请求";
    no_freezes_hint: "Each running call sets quota aside; it is listed here until its charge is recorded." | "每个进行中的调用都会预留额度，直到费用入账前都列在这里。";
    request: "Request" | "请求";
    model: "Model" | "模型";
    set_aside: "Set aside" | "已预留";
    so_far: "Cost so far" | "目前费用";
    since: "Since" | "开始于";
    last_beat: "Last beat" | "最近心跳";
    gateway_word: "Gateway" | "网关";
    running: "Running" | "进行中";
    settled: "Settled" | "已结算";
    no_beat: "No beat" | "无心跳";
    roll_back: "Roll back" | "退回";
    roll_back_freeze: "Roll back this freeze?" | "退回该冻结？";
    roll_back_words: "What is set aside becomes available at once and nothing is charged. If the call still ends and reports its usage, a late correction charges it." | "预留的额度立即释放，不产生费用。若调用之后仍然结束并上报用量，将以补记方式收费。";
    both_copies: "Redis and Postgres" | "Redis 与 Postgres";
    both_copies_hint: "Postgres decides; Redis' copy follows it." | "以 Postgres 为准，Redis 副本随之更新。";
    scope: "Scope" | "范围";
    comparison: "Comparison" | "比对";
    equal: "The same" | "一致";
    absent: "Not loaded" | "未加载";
    behind: "Redis is older" | "Redis 较旧";
    ahead: "Redis is newer" | "Redis 较新";
    different: "Totals differ" | "总额不一致";
    frozen_differs: "Freezes differ" | "冻结不一致";
    halted: "Halted" | "已中止";
    not_loaded_hint: "Accounts that no call used lately are loaded by the next one." | "近期未使用的账户会在下次调用时加载。";
    rebuild: "Rebuild Redis’ copy" | "重建 Redis 副本";
    rebuild_words: "Redis' copy is made anew from Postgres. Nothing is deleted and running calls go on; new calls of this tenant, and of others in its shard, wait up to 3 s." | "将依据 Postgres 重建 Redis 副本。不会删除数据，进行中的调用继续；该租户及同一分片的新调用最多等待 3 秒。";
    rebuilt: "Redis’ copy was rebuilt" | "Redis 副本已重建";
}
