// The words by which a person finds things on the page, in both languages.

export const WORDS = {
  en: {
    email: "E-mail", password: "Password", signIn: "Sign in", wrong: "E-mail or password is wrong.", signOut: "Sign out",
    tenants: "Tenants", search: "Name, id or external id", newTenant: "New tenant", name: "Name", plan: "Plan, each period",
    createTenant: "Create tenant", addGrant: "Add grant", amount: "Amount", add: "Add 25.00", total: /Total is now/,
    projects: "Projects", newProject: "New project", createProject: "Create project", newKey: "New key",
    createKey: "Create key", stored: "I have stored the secret where it belongs", done: "Done", needed: "This is needed.",
    notFound: "Nothing found", noKeys: "No keys yet", expired: /Your session has ended/, close: "Close", away: /does not answer/,
  },
  zh: {
    email: "邮箱", password: "密码", signIn: "登录", wrong: "邮箱或密码错误。", signOut: "退出登录",
    tenants: "租户", search: "名称、编号或外部编号", newTenant: "新建租户", name: "名称", plan: "每周期套餐",
    createTenant: "创建租户", addGrant: "添加授予", amount: "数额", add: "添加 25.00", total: /总额现为/,
    projects: "项目", newProject: "新建项目", createProject: "创建项目", newKey: "新建密钥",
    createKey: "创建密钥", stored: "我已将密钥妥善保存", done: "完成", needed: "此项必填。",
    notFound: "没有找到", noKeys: "还没有密钥", expired: /会话已结束/, close: "关闭", away: /没有响应/,
  },
};
