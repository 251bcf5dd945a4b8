//! A chat's tools and the choice among them.

use crate::dialect::field::BadField;
use crate::translate::fields::{Fields, array};
use crate::wire::edit::{Object, quote};

/// Parameters of a function that has none.
const NO_PARAMETERS: &str = r#"{"type":"object","properties":{}}"#;

/// Translates `tools`, `tool_choice`, `parallel_tool_calls`.
///
/// # Errors
/// The first field that can't be used, or has no counterpart.
pub fn translate(from: &Fields<'_>, to: &mut Object<'_>) -> Result<(), BadField> {
    let tools = from.children("tools")?.iter().map(tool).collect::<Result<Vec<_>, _>>()?;
    let one_at_a_time = from.read::<bool>("parallel_tool_calls", "must be true or false")? == Some(false);
    let choice = match from.take("tool_choice") {
        None => None,
        Some(text) => Some(choice(from, text)?),
    };
    if tools.is_empty() {
        // Without tools only a choice that needs one means anything.
        return match choice {
            Some(choice) if choice.kind != "auto" && choice.kind != "none" => Err(from.missing("tools")),
            _ => Ok(()),
        };
    }
    to.set("tools", array(&tools));
    let choice = match choice {
        None if !one_at_a_time => return Ok(()),
        None => Choice { kind: "auto", name: None },
        Some(choice) => choice,
    };
    let mut text = Object::default();
    text.set("type", quote(choice.kind));
    if let Some(name) = &choice.name {
        text.set("name", quote(name));
    }
    if one_at_a_time && choice.kind != "none" {
        text.set("disable_parallel_tool_use", "true".to_owned());
    }
    to.set("tool_choice", text.to_text());
    Ok(())
}

fn tool(tool: &Fields<'_>) -> Result<String, BadField> {
    if tool.needed("type")? != "function" {
        return Err(tool.untranslatable("type"));
    }
    let function = tool.take("function").ok_or_else(|| tool.missing("function"))?;
    let function = tool.child(tool.param("function"), function)?;
    let mut to = Object::default();
    to.set("name", quote(&function.needed("name")?));
    if let Some(description) = function.text("description")? {
        to.set("description", quote(&description));
    }
    to.set("input_schema", function.take("parameters").unwrap_or(NO_PARAMETERS).to_owned());
    if function.read::<bool>("strict", "must be true or false")? == Some(true) {
        to.set("strict", "true".to_owned());
    }
    function.finish()?;
    tool.finish()?;
    Ok(to.to_text())
}

struct Choice {
    kind: &'static str,
    name: Option<String>,
}

fn choice(from: &Fields<'_>, text: &str) -> Result<Choice, BadField> {
    let of = |kind| Ok(Choice { kind, name: None });
    match text {
        "\"auto\"" => return of("auto"),
        "\"required\"" => return of("any"),
        "\"none\"" => return of("none"),
        _ if !text.starts_with('{') => {
            return Err(from.wrong("tool_choice", "must be `auto`, `required`, `none` or an object naming a function"));
        }
        _ => {}
    }
    let named = from.child("tool_choice".to_owned(), text)?;
    if named.needed("type")? != "function" {
        return Err(named.untranslatable("type"));
    }
    let function = named.take("function").ok_or_else(|| named.missing("function"))?;
    let function = named.child(named.param("function"), function)?;
    let choice = Choice { kind: "tool", name: Some(function.needed("name")?) };
    function.finish()?;
    named.finish()?;
    Ok(choice)
}
