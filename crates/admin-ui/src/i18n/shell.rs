//! Texts of the frame, of signing in and of what every page shares.

texts! {
    skip_to_content: "Skip to content" | "跳到内容";
    main_navigation: "Main" | "主导航";
    menu: "Menu" | "菜单";
    close_menu: "Close menu" | "关闭菜单";
    operate: "Operate" | "运营";
    configure: "Configure" | "配置";
    govern: "Govern" | "管理";
    tenants: "Tenants" | "租户";
    language_word: "Language" | "语言";
    switch_theme: "Switch theme" | "切换主题";
    theme_system: "Theme: as the system" | "主题：跟随系统";
    theme_light: "Theme: light" | "主题：浅色";
    theme_dark: "Theme: dark" | "主题：深色";
    sign_out: "Sign out" | "退出登录";
    breadcrumb: "Breadcrumb" | "面包屑";
    page_missing: "This page does not exist" | "此页面不存在";
    page_missing_hint: "The address leads nowhere in this console." | "此地址在控制台中没有对应页面。";
    to_tenants: "To the tenants" | "前往租户列表";

    sign_in: "Sign in" | "登录";
    signing_in: "Signing in…" | "正在登录…";
    sign_in_hint: "The console of this deployment." | "本部署的控制台。";
    session_expired: "Your session has ended. Sign in and you are back where you were." | "会话已结束。重新登录后将回到原来的页面。";
    email: "E-mail" | "邮箱";
    password: "Password" | "密码";
    service_away: "The service does not answer" | "服务没有响应";
    service_away_hint: "Nothing is lost; it is asked again as soon as you wish." | "数据不会丢失，可随时重试。";

    set_up: "Set up the first administrator" | "设置首位管理员";
    set_up_hint: "Nobody has an account here yet. The one-time token stands in the log of the first start." | "此处还没有任何账户。一次性令牌在首次启动的日志中。";
    set_up_token: "One-time token" | "一次性令牌";
    set_up_password_hint: "At least 12 characters." | "至少 12 个字符。";
    create_administrator: "Create administrator" | "创建管理员";

    totp_code: "Code from your authenticator" | "验证器动态码";
    wrong_code: "The code is wrong, was used or is over. Wait for the next one." | "动态码错误、已使用或已过期，请等待下一个。";
    totp_hint: "Six digits, or one of your recovery codes." | "六位数字，或一个恢复码。";

    role_owner: "Platform owner" | "平台所有者";
    role_operator: "Operator" | "运营人员";
    role_viewer: "Viewer" | "只读用户";
    role_tenant_owner: "Tenant owner" | "租户所有者";
    role_tenant_viewer: "Tenant viewer" | "租户只读用户";
    invitation: "Accept your invitation" | "接受邀请";
    accept_invitation: "Accept and sign in" | "接受并登录";
    link_over: "This link is wrong, was used already, or is too old." | "此链接无效、已使用或已过期。";
    invitation_over_hint: "Ask whoever invited you for another one." | "请联系邀请人重新发送。";
    to_sign_in: "To sign in" | "前往登录";

    password_forgotten: "Forgotten your password?" | "忘记密码？";
    reset_password: "Choose another password" | "重设密码";
    reset_hint: "We mail you a link that is good for an hour." | "我们会向您发送一个一小时内有效的链接。";
    send_link: "Send the link" | "发送链接";
    link_sent: "If there is an account with this address, a mail is on its way. Look into the spam folder too." | "如果存在使用此邮箱的账户，邮件已发出。请同时检查垃圾邮件文件夹。";
    new_password: "New password" | "新密码";
    set_password: "Set the password" | "设置密码";
    password_set: "Your password is set, and every session of yours has ended. Sign in with the new one." | "密码已设置，您的所有会话均已结束。请使用新密码登录。";

    loading: "Loading" | "正在加载";
    try_again: "Try again" | "重试";
    could_not_load: "Could not be loaded" | "无法加载";
    code_word: "Code" | "代码";
    request_id: "Request id" | "请求编号";
    older_data: "The figures are older: the last try to refresh them failed." | "数据较旧：最近一次刷新失败。";
    copy: "Copy" | "复制";
    copied: "Copied" | "已复制";
    copy_refused: "The browser does not allow it; mark the text and copy it by hand." | "浏览器不允许复制，请手动选择文本后复制。";
    close: "Close" | "关闭";
    cancel: "Cancel" | "取消";
    dismiss: "Dismiss" | "关闭提示";
    part_not_loaded: "This page could not be loaded" | "此页面无法加载";
    part_not_loaded_hint: "The connection failed, or another version of the console was put in place meanwhile: then reload the window." | "连接失败，或控制台已更新版本；若为后者请重新加载窗口。";
    done: "Done" | "完成";
    saving: "Saving…" | "正在保存…";
}
