//! Texts of forms.

texts! {
    name: "Name" | "名称";
    name_tenant_hint: "How people here know it." | "供内部人员识别。";
    external_id_hint: "The billing system’s id of it; may stay empty." | "计费系统中的编号，可留空。";
    unit: "Unit" | "单位";
    unit_hint: "Fixed once created." | "创建后不可更改。";
    credit: "credit" | "credit";
    token: "token" | "token";
    time_zone: "Time zone" | "时区";
    time_zone_hint: "Periods begin at midnight there." | "周期从该时区的零点开始。";
    period_day: "day" | "每日";
    period_week: "week" | "每周";
    period_month: "month" | "每月";
    period_year: "year" | "每年";
    first_plan: "Plan, each period" | "每周期套餐";
    first_plan_hint: "Quota that renews; empty: no plan yet." | "每个周期续期的额度；留空则暂无套餐。";
    create_tenant: "Create tenant" | "创建租户";

    create_project: "Create project" | "创建项目";
    budget_hint: "Empty: as much as the tenant has." | "留空：以租户额度为限。";
    key_budget_hint: "Empty: as much as the project has." | "留空：以项目额度为限。";
    per: "Each" | "每";

    create_key: "Create key" | "创建密钥";
    key_name_hint: "What it is for, such as support-web." | "用途，例如 support-web。";
    models_hint: "None chosen: every model." | "不选：全部模型。";
    expires_hint: "Empty: never." | "留空：永不过期。";

    kind: "Kind" | "类型";
    kind_hint: "Gifts are spent first, then temporary grants, then plans." | "先消耗赠送，再消耗临时授予，最后消耗套餐。";
    amount_hint: "Up to 8 decimals." | "最多 8 位小数。";
    amount_hint_tokens: "Whole tokens." | "整数 token。";
    ends: "Ends" | "结束时间";
    ends_hint: "Empty: never." | "留空：永不结束。";
    note: "Note" | "备注";
    note_hint: "For people, such as an order’s number." | "供人阅读，例如订单号。";
}
