//! What a mail says, in English or Chinese, as text and as HTML.

use serde_json::Value;
use store::mail_deliveries::Claimed;

/// A mail's words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Letter {
    /// Subject.
    pub subject: String,
    lines: Vec<String>,
    facts: Vec<(String, String)>,
    /// What it leads to, and where.
    link: Option<(String, String)>,
    foot: &'static str,
    language: &'static str,
}

/// What has happened, as far as words differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum About {
    Low,
    Exhausted,
    OverdraftStarted,
    OverdraftExhausted,
    EndpointDisabled,
}

impl About {
    fn of(kind: &str, percent: Option<i64>) -> Self {
        match kind {
            "quota.exhausted" => Self::Exhausted,
            "overdraft.started" => Self::OverdraftStarted,
            "overdraft.exhausted" => Self::OverdraftExhausted,
            "endpoint.disabled" => Self::EndpointDisabled,
            _ if percent.is_some_and(|percent| percent >= 100) => Self::Exhausted,
            _ => Self::Low,
        }
    }
}

impl Letter {
    /// Writes it in the person's language.
    #[must_use]
    pub fn write(mail: &Claimed) -> Self {
        let data = &mail.payload;
        let percent = data["threshold_percent"].as_i64();
        let about = About::of(&mail.kind, percent);
        let name = mail.tenant_name.clone().unwrap_or_else(|| "Tollgate".to_owned());
        let name = one_line(&name, 100);
        let what = match data["scope"]["kind"].as_str() {
            Some(kind @ ("project" | "pool")) => Some((kind, text(&data["scope"]["id"]))),
            _ => None,
        };
        let chinese = mail.locale == "zh";
        let subject = if chinese { subject_zh(about, &name, percent) } else { subject_en(about, &name, percent) };
        let line = if chinese { line_zh(about) } else { line_en(about) };
        let mut facts = Vec::new();
        let mut fact = |en: &str, zh: &str, value: &Value| {
            if !value.is_null() {
                facts.push(((if chinese { zh } else { en }).to_owned(), text(value)));
            }
        };
        fact("Tenant", "租户", &Value::from(name));
        if let Some((kind, id)) = what {
            fact(
                if kind == "project" { "Project" } else { "Pool" },
                if kind == "project" { "项目" } else { "共享池" },
                &Value::from(id),
            );
        }
        fact("Total", "总额度", &data["quota"]["total"]);
        fact("Used", "已用", &data["quota"]["used"]);
        fact("In flight", "冻结中", &data["quota"]["frozen"]);
        fact("Remaining", "剩余", &data["quota"]["remaining"]);
        if matches!(about, About::OverdraftStarted | About::OverdraftExhausted) {
            fact("Overdraft used", "已透支", &data["quota"]["overdraft"]["used"]);
            fact("Overdraft limit", "透支上限", &data["quota"]["overdraft"]["limit"]);
        }
        if about == About::EndpointDisabled {
            fact("Endpoint", "端点", &data["url"]);
            fact("Failing since", "开始失败于", &data["failing_since"]);
        }
        Self::of(chinese, subject, vec![line.to_owned()], facts, None)
    }

    /// Of these words, in Chinese or English.
    #[must_use]
    pub fn of(
        chinese: bool,
        subject: String,
        lines: Vec<String>,
        facts: Vec<(String, String)>,
        link: Option<(String, String)>,
    ) -> Self {
        let foot = if chinese { "此邮件由 Tollgate 自动发送。" } else { "Sent by Tollgate, automatically." };
        Self { subject, lines, facts, link, foot, language: if chinese { "zh" } else { "en" } }
    }

    /// As plain text.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = self.lines.join("\n\n");
        text.push_str("\n\n");
        if let Some((what, url)) = &self.link {
            text.push_str(&format!("{what}:\n{url}\n\n"));
        }
        for (name, value) in &self.facts {
            text.push_str(&format!("{name}: {value}\n"));
        }
        format!("{text}\n-- \n{}\n", self.foot)
    }

    /// As HTML that loads nothing.
    #[must_use]
    pub fn html(&self) -> String {
        let lines: String = self.lines.iter().map(|line| format!("<p>{}</p>", escape(line))).collect();
        let row = |(name, value): &(String, String)| {
            format!(
                "<tr><td style=\"padding:2px 16px 2px 0;color:#667\">{}</td><td>{}</td></tr>",
                escape(name),
                escape(value)
            )
        };
        let facts: String = self.facts.iter().map(row).collect();
        let link = self
            .link
            .as_ref()
            .map_or_else(String::new, |(what, url)| format!("<p><a href=\"{}\">{}</a></p>", escape(url), escape(what)));
        format!(
            "<!doctype html><html lang=\"{}\"><meta charset=\"utf-8\"><title>{}</title>\
             <body style=\"font:16px/1.5 sans-serif;color:#223;max-width:36em\">{lines}{link}<table>{facts}</table>\
             <p style=\"color:#667;font-size:13px\">{}</p></body></html>",
            self.language,
            escape(&self.subject),
            self.foot
        )
    }
}

fn subject_en(about: About, name: &str, percent: Option<i64>) -> String {
    match about {
        About::Low => format!("{name}: {} % of the quota is used", percent.unwrap_or(90)),
        About::Exhausted => format!("{name}: the quota is used up"),
        About::OverdraftStarted => format!("{name}: the overdraft is in use"),
        About::OverdraftExhausted => format!("{name}: the overdraft is used up"),
        About::EndpointDisabled => format!("{name}: a webhook endpoint was disabled"),
    }
}

fn subject_zh(about: About, name: &str, percent: Option<i64>) -> String {
    match about {
        About::Low => format!("{name}:额度已使用 {}%", percent.unwrap_or(90)),
        About::Exhausted => format!("{name}:额度已用尽"),
        About::OverdraftStarted => format!("{name}:已开始透支"),
        About::OverdraftExhausted => format!("{name}:透支额度已用尽"),
        About::EndpointDisabled => format!("{name}:Webhook 端点已被停用"),
    }
}

const fn line_en(about: About) -> &'static str {
    match about {
        About::Low => "The quota is running low. Add a grant before it is used up: requests are refused then.",
        About::Exhausted => {
            "The quota is used up. Requests are refused, unless an overdraft or a credit line was agreed. Add a grant to go on."
        }
        About::OverdraftStarted => {
            "The quota is used up, and requests are served from the overdraft. Add a grant to repay it."
        }
        About::OverdraftExhausted => "The overdraft is used up, and requests are refused. Add a grant to go on.",
        About::EndpointDisabled => {
            "Deliveries to this endpoint failed for too long, or it answered that it is gone. Nothing is sent to it until \
             you enable it again; then have the missed events delivered again."
        }
    }
}

const fn line_zh(about: About) -> &'static str {
    match about {
        About::Low => "额度即将用尽。请在用尽之前追加额度,否则请求会被拒绝。",
        About::Exhausted => "额度已用尽。除非已开通透支或信用额度,否则请求会被拒绝。请追加额度以继续使用。",
        About::OverdraftStarted => "额度已用尽,请求正在使用透支额度。请追加额度以偿还透支。",
        About::OverdraftExhausted => "透支额度已用尽,请求会被拒绝。请追加额度以继续使用。",
        About::EndpointDisabled => {
            "该端点长时间投递失败,或已声明不再存在。重新启用之前不会再向它发送事件;启用后可重新投递错过的事件。"
        }
    }
}

fn text(value: &Value) -> String {
    one_line(&value.as_str().map_or_else(|| value.to_string(), str::to_owned), 500)
}

/// One line of at most `most` characters: control characters become spaces.
#[must_use]
pub fn one_line(text: &str, most: usize) -> String {
    text.chars().take(most).map(|c| if c.is_control() { ' ' } else { c }).collect()
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use serde_json::json;

    /// A mail about a low quota.
    pub fn low(locale: &str) -> Claimed {
        Claimed {
            id: uuid::Uuid::from_u128(1),
            kind: "quota.low".to_owned(),
            payload: json!({"threshold_percent": 90, "quota": {"total": "1.00", "used": "0.90", "remaining": "0.10"}}),
            token: None,
            tenant_name: Some("<b>Acme".to_owned()),
            email: "a@example.com".to_owned(),
            locale: locale.to_owned(),
            tries: 0,
        }
    }

    #[test]
    fn both_languages_say_what_happened_with_the_numbers() {
        for (locale, word, line) in
            [("en", "90 % of the quota", "Remaining: 0.10"), ("zh", "额度已使用 90%", "剩余: 0.10")]
        {
            let letter = Letter::write(&low(locale));
            assert!(letter.subject.contains(word), "{}", letter.subject);
            assert!(letter.text().contains(line), "{}", letter.text());
            assert!(letter.html().contains("&lt;b&gt;Acme") && !letter.html().contains("<b>"));
        }
        for kind in ["quota.exhausted", "overdraft.started", "overdraft.exhausted", "endpoint.disabled"] {
            let mut mail = low("en");
            mail.kind = kind.to_owned();
            let english = Letter::write(&mail);
            mail.locale = "zh".to_owned();
            assert_ne!(english.subject, Letter::write(&mail).subject, "{kind}");
            assert_ne!(english.subject, Letter::write(&low("en")).subject, "{kind}");
        }
        let mut full = low("en");
        full.payload["threshold_percent"] = json!(100);
        assert!(Letter::write(&full).subject.ends_with("used up"));
    }
}
