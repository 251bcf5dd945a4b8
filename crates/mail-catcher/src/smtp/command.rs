//! Commands, parsed strictly.

/// What a sender may say.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Command {
    Hello {
        extended: bool,
    },
    /// The sender and the size it announces.
    Mail {
        from: String,
        size: Option<usize>,
    },
    Rcpt {
        to: String,
    },
    Data,
    Rset,
    Noop,
    Vrfy,
    Quit,
}

/// The reply to a line that is no command.
pub(crate) type Wrong = &'static str;

const UNKNOWN: Wrong = "500 5.5.2 command not recognised";
const SYNTAX: Wrong = "501 5.5.4 syntax error in the parameters";

impl Command {
    /// Parses a line without its line end.
    pub(crate) fn parse(line: &str) -> Result<Self, Wrong> {
        let (verb, rest) = line.split_once(' ').unwrap_or((line, ""));
        let alone = |command| if rest.trim().is_empty() { Ok(command) } else { Err(SYNTAX) };
        match verb.to_ascii_uppercase().as_str() {
            "EHLO" if !rest.trim().is_empty() => Ok(Self::Hello { extended: true }),
            "HELO" if !rest.trim().is_empty() => Ok(Self::Hello { extended: false }),
            "EHLO" | "HELO" => Err(SYNTAX),
            "MAIL" => {
                let (from, parameters) = path(rest, "FROM:").ok_or(SYNTAX)?;
                Ok(Self::Mail { from, size: parameters_of_mail(parameters)? })
            }
            "RCPT" => match path(rest, "TO:").ok_or(SYNTAX)? {
                (to, "") if !to.is_empty() => Ok(Self::Rcpt { to }),
                (to, _) if to.is_empty() => Err(SYNTAX),
                _ => Err("555 5.5.4 parameters of RCPT are not supported"),
            },
            "DATA" => alone(Self::Data),
            "RSET" => alone(Self::Rset),
            "QUIT" => alone(Self::Quit),
            "NOOP" => Ok(Self::Noop),
            "VRFY" => Ok(Self::Vrfy),
            "EXPN" | "HELP" | "AUTH" | "STARTTLS" | "TURN" => Err("502 5.5.1 command not implemented"),
            _ => Err(UNKNOWN),
        }
    }
}

/// `FROM:<address> parameters`.
fn path<'a>(rest: &'a str, name: &str) -> Option<(String, &'a str)> {
    let head = rest.get(..name.len()).filter(|head| head.eq_ignore_ascii_case(name))?;
    let rest = rest.get(head.len()..)?.trim_start().strip_prefix('<')?;
    let (address, parameters) = rest.split_once('>')?;
    let plain = address.len() <= 320 && !address.contains(|c: char| c.is_whitespace() || c.is_control() || c == '<');
    let whole =
        address.is_empty() || address.split_once('@').is_some_and(|(user, host)| !user.is_empty() && !host.is_empty());
    let apart = parameters.is_empty() || parameters.starts_with(' ');
    (plain && whole && apart).then(|| (address.to_owned(), parameters.trim()))
}

fn parameters_of_mail(parameters: &str) -> Result<Option<usize>, Wrong> {
    let mut size = None;
    for parameter in parameters.split_whitespace() {
        let (name, value) = parameter.split_once('=').unwrap_or((parameter, ""));
        match name.to_ascii_uppercase().as_str() {
            "SIZE" => size = Some(value.parse().map_err(|_| SYNTAX)?),
            "BODY" if ["7BIT", "8BITMIME"].iter().any(|known| value.eq_ignore_ascii_case(known)) => {}
            "SMTPUTF8" if value.is_empty() => {}
            _ => return Err("555 5.5.4 a parameter of MAIL is not supported"),
        }
    }
    Ok(size)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mail(from: &str, size: Option<usize>) -> Result<Command, Wrong> {
        Ok(Command::Mail { from: from.to_owned(), size })
    }

    #[test]
    fn commands_are_read_in_any_case() {
        assert_eq!(Command::parse("ehlo me"), Ok(Command::Hello { extended: true }));
        assert_eq!(Command::parse("Mail From:<a@b.c> SIZE=12 BODY=8BITMIME"), mail("a@b.c", Some(12)));
        assert_eq!(Command::parse("MAIL FROM:<>"), mail("", None));
        assert_eq!(Command::parse("RCPT TO:<a@b.c>"), Ok(Command::Rcpt { to: "a@b.c".to_owned() }));
    }

    #[test]
    fn slips_are_refused() {
        for line in [
            "EHLO",
            "MAIL a@b.c",
            "MAIL FROM:a@b.c",
            "MAIL FROM:<a@b.c",
            "MAIL FROM:<a b@c>",
            "MAIL FROM:<a@b.c>SIZE=1",
            "MAIL FROM:<a@b.c> SIZE=x",
            "MAIL FROM:<@b>",
            "RCPT TO:<>",
            "RCPT TO:<a@b.c> NOTIFY=NEVER",
            "DATA now",
            "WHAT",
            "",
        ] {
            assert!(Command::parse(line).is_err(), "{line}");
        }
    }
}
