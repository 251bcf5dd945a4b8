//! Mails with a one-time link: invitations and password resets. The token stands behind `#`, which browsers send to nobody.

use anyhow::{Context, bail};
use store::mail_deliveries::Claimed;
use store::seal::Sealer;
use uuid::Uuid;

use super::letter::{Letter, one_line};

/// What makes links.
#[derive(Debug, Clone)]
pub struct Links {
    /// Opens the tokens.
    pub sealer: Sealer,
    /// Where browsers reach the console, without a slash at its end.
    pub console_url: String,
}

impl Links {
    /// The letter with the link of the token with this id.
    ///
    /// # Errors
    /// The token can't be opened: it was sealed under another key.
    pub fn letter(&self, mail: &Claimed, id: Uuid, sealed: &[u8]) -> anyhow::Result<Letter> {
        let token = self.sealer.open(&id.to_string(), sealed).context("the token can't be read")?;
        let link = |page: &str| format!("{}/{page}#{token}", self.console_url);
        let chinese = mail.locale == "zh";
        let until = minute(mail.payload["expires_at"].as_str().unwrap_or_default());
        Ok(match mail.kind.as_str() {
            "invitation" => invitation(mail, chinese, until, link("invitation")),
            "password_reset" => password_reset(chinese, until, link("password-reset")),
            other => bail!("no letter for a token of the kind {other}"),
        })
    }
}

/// `2026-12-07T12:30:00.123+00:00` as people read it.
fn minute(at: &str) -> String {
    format!("{} UTC", at.get(..16).unwrap_or(at).replace('T', " "))
}

fn invitation(mail: &Claimed, chinese: bool, until: String, link: String) -> Letter {
    let name = one_line(mail.tenant_name.as_deref().unwrap_or("Tollgate"), 100);
    let role = role(mail.payload["role"].as_str().unwrap_or_default(), chinese);
    let (subject, lines, what) = if chinese {
        (
            format!("{name}:邀请您加入"),
            vec![
                format!("您被邀请加入 {name},角色为{role}。请打开链接设置密码以接受邀请。"),
                "如果您并不认识发出邀请的人,请忽略此邮件。".to_owned(),
            ],
            "接受邀请",
        )
    } else {
        (
            format!("{name}: you are invited"),
            vec![
                format!("You are invited to {name} as {role}. Open the link and choose a password to accept."),
                "If you do not know who invites you, ignore this mail.".to_owned(),
            ],
            "Accept the invitation",
        )
    };
    let facts = vec![(if chinese { "有效期至" } else { "Good until" }.to_owned(), until)];
    Letter::of(chinese, subject, lines, facts, Some((what.to_owned(), link)))
}

fn password_reset(chinese: bool, until: String, link: String) -> Letter {
    let (subject, lines, what) = if chinese {
        (
            "Tollgate:重置密码",
            [
                "有人请求重置您的密码。打开链接即可设置新密码;所有已登录的会话都会结束。",
                "如果不是您本人的请求,请忽略此邮件,密码不会改变。",
            ],
            "设置新密码",
        )
    } else {
        (
            "Tollgate: set another password",
            [
                "Somebody asked for another password for you. Open the link to choose one; every session that is signed in ends.",
                "If it was not you, ignore this mail: your password stays as it is.",
            ],
            "Choose another password",
        )
    };
    let facts = vec![(if chinese { "有效期至" } else { "Good until" }.to_owned(), until)];
    let lines = lines.map(str::to_owned).to_vec();
    Letter::of(chinese, subject.to_owned(), lines, facts, Some((what.to_owned(), link)))
}

fn role(role: &str, chinese: bool) -> &'static str {
    match (role, chinese) {
        ("owner", false) => "platform owner",
        ("owner", true) => "平台所有者",
        ("operator", false) => "platform operator",
        ("operator", true) => "平台操作员",
        ("viewer", false) => "platform viewer",
        ("viewer", true) => "平台只读成员",
        ("tenant_owner", false) => "owner",
        ("tenant_owner", true) => "所有者",
        (_, false) => "viewer",
        (_, true) => "只读成员",
    }
}
