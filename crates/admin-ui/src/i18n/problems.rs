//! What went wrong, by the API's stable codes; its own words where a code is not known here.

use api_types::FieldError;

use super::Language;
use crate::api::Failure;

impl Language {
    /// A failed call in a sentence.
    #[must_use]
    pub fn failure(self, failure: &Failure) -> String {
        let problem = match failure {
            Failure::Unreachable => {
                return self
                    .of(
                        "The service does not answer. Nothing was changed unless it says so later.",
                        "服务没有响应。除非之后另有提示，否则没有任何改动。",
                    )
                    .to_owned();
            }
            Failure::Unreadable { status } => {
                return format!("{} (HTTP {status})", self.of("The answer could not be read", "无法读取响应"));
            }
            Failure::Problem(problem) => problem,
        };
        match problem.code.as_str() {
            "bad_credentials" => self.of("E-mail or password is wrong.", "邮箱或密码错误。"),
            "totp_required" => {
                self.of("This account asks for a code from an authenticator.", "此账户需要验证器中的动态码。")
            }
            "too_many_requests" => {
                self.of("Too many tries. Wait a little, then try again.", "尝试次数过多，请稍候再试。")
            }
            "unauthenticated" => self.of("Nobody is signed in.", "尚未登录。"),
            "forbidden" => self.of("Your role does not allow this.", "您的角色无权执行此操作。"),
            "not_found" => self.of("It does not exist, or is not yours to see.", "不存在，或您无权查看。"),
            "invalid_field" => self.of("Some fields need another value.", "部分字段的值需要修改。"),
            "below_committed" => self.below_committed(),
            "precondition_failed" => self.changed_meanwhile(),
            "unavailable" => self
                .of("The service cannot do this right now; try again in a moment.", "服务暂时无法处理，请稍后再试。"),
            _ => return problem.detail.clone(),
        }
        .to_owned()
    }

    /// What is wrong with a field.
    #[must_use]
    pub fn field_error(self, error: &FieldError) -> String {
        match error.code.as_str() {
            "required" | "blank" | "empty" => self.of("This is needed.", "此项必填。").to_owned(),
            "already_exists" | "taken" => self.of("Another one has this already.", "已被占用。").to_owned(),
            "not_number" => self.of("Write a whole number.", "请输入整数。").to_owned(),
            "not_id" => self.of("This is no id.", "不是有效的编号。").to_owned(),
            "not_decimal" => self.of("Write a plain number such as 12.50.", "请输入普通数字，例如 12.50。").to_owned(),
            "too_precise" => self.of("Too many decimals.", "小数位数过多。").to_owned(),
            // The API's words carry the limits, which are worth more than a translation without them.
            _ => error.message.clone(),
        }
    }

    const fn of(self, en: &'static str, zh: &'static str) -> &'static str {
        match self {
            Self::En => en,
            Self::Zh => zh,
        }
    }
}
