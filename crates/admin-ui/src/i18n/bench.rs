//! Texts of the playground and of prices.

texts! {
    playground: "Playground" | "调试台";
    playground_hint: "Send a chat with a key of your own and watch what its quota does. The key pays, and stays in this page only." | "使用您自己的密钥发送对话并观察额度变化。费用由该密钥承担，密钥仅保留在本页面。";
    not_said: "not said" | "未指定";
    whose_key: "Whose key" | "密钥所属租户";
    whose_key_hint: "Then the freeze is shown while it runs." | "指定后可实时显示冻结情况。";
    ask_card: "Ask" | "提问";
    api_key: "API key" | "API 密钥";
    api_key_hint: "tg_live_…; it is neither kept nor logged." | "tg_live_…；不会保存或记录。";
    longest_answer: "Longest answer" | "最长回答";
    longest_answer_hint: "Tokens; empty: the model's." | "令牌数；留空则使用模型上限。";
    message: "Message" | "消息";
    as_stream: "Show the answer as it is made" | "流式显示回答";
    send_chat: "Send" | "发送";
    answering: "Answering…" | "正在回答…";
    stop: "Stop" | "停止";
    answer: "Answer" | "回答";
    no_answer_yet: "Nothing was asked yet." | "尚未提问。";
    waiting_for_head: "Waiting for the first byte…" | "等待首字节…";
    broke_off: "The answer broke off. What was made until then is charged." | "回答中断，已生成的部分会计费。";
    what_quota_does: "What the quota does" | "额度变化";
    money_hint: "Before the call quota is set aside, enlarged while the answer grows, and replaced by what it cost." | "调用前先冻结额度，回答变长时追加，结束后按实际费用结算。";
    extended: "Extended" | "追加冻结";
    extensions_word: "Extensions" | "追加次数";
    settled_and_recorded: "Settled and recorded" | "已结算并入账";

    prices_page_hint: "All prices in one table. Nothing changes before you have seen what does." | "集中管理全部价格，确认差异后才会生效。";
    save_matrix: "Save as a file" | "导出文件";
    read_file: "Read a file" | "读取文件";
    not_json: "This file is no JSON." | "此文件不是 JSON。";
    look_at_changes: "Look at the changes" | "查看差异";
    as_in_force: "As in force" | "恢复为当前价格";
    price_units: "Credits per 1,000,000 tokens; image and request: each. Empty: as its base kind; free is 0. Versions stand on each model's page." | "单位：每 1,000,000 令牌的额度；图像与请求按次计。留空沿用基础类别价格，免费请填 0。历史版本见各模型页面。";
    what_changes: "What changes" | "变更内容";
    nothing_changes: "Nothing: the catalog is as it is in force." | "没有变更，与当前目录一致。";
    models_go: "Models that are not in the file go, with their targets. What was charged stays in the books." | "文件中没有的模型及其目标将被删除，已产生的费用仍保留在账目中。";
    models_gone: "Go:" | "删除：";
    models_new: "New:" | "新增：";
    put_in_force: "Put in force" | "使其生效";
    matrix_in_force: "The catalog is in force on every gateway within a second" | "目录将在一秒内于所有网关生效";
    field_word: "Field" | "字段";
    simulation: "Simulation" | "模拟";
    simulation_hint: "What recorded requests would have cost at the prices that you changed in the table." | "按表格中修改后的价格重新计算已记录的请求。";
    change_a_price: "Change a price in the table first." | "请先在表格中修改价格。";
    last_days: "Last days" | "最近天数";
    new_prices_from_hint: "Of the new prices; empty: at once." | "新价格的生效时间；留空立即生效。";
    simulate: "Simulate" | "开始模拟";
    group_word: "Group" | "分组";
    was_charged: "Charged" | "实际费用";
    would_be: "Would have been" | "模拟费用";
    difference_word: "Difference" | "差额";
}
