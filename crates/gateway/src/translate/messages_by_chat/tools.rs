//! A message's tools and the choice among them.

use crate::dialect::field::BadField;
use crate::translate::fields::{Fields, array};
use crate::wire::edit::{Object, quote};

/// Translates `tools`, `tool_choice`.
///
/// # Errors
/// The first field that can't be used, or has no counterpart: every tool that runs at the provider.
pub fn translate(from: &Fields<'_>, to: &mut Object<'_>) -> Result<(), BadField> {
    let tools = from.children("tools")?.iter().map(tool).collect::<Result<Vec<_>, _>>()?;
    let choice = from.take("tool_choice").map(|text| from.child("tool_choice".to_owned(), text)).transpose()?;
    let Some(choice) = choice else {
        if !tools.is_empty() {
            to.set("tools", array(&tools));
        }
        return Ok(());
    };
    let kind = choice.needed("type")?;
    let one_at_a_time = choice.read::<bool>("disable_parallel_tool_use", "must be true or false")?.unwrap_or_default();
    let text = match kind.as_str() {
        "auto" | "none" => quote(&kind),
        "any" => quote("required"),
        "tool" => {
            format!(r#"{{"type":"function","function":{{"name":{}}}}}"#, quote(&choice.needed("name")?))
        }
        _ => return Err(choice.untranslatable("type")),
    };
    choice.finish()?;
    if tools.is_empty() {
        // Without tools only a choice that needs one means anything.
        return if matches!(kind.as_str(), "auto" | "none") { Ok(()) } else { Err(from.missing("tools")) };
    }
    to.set("tools", array(&tools));
    to.set("tool_choice", text);
    if one_at_a_time {
        to.set("parallel_tool_calls", "false".to_owned());
    }
    Ok(())
}

fn tool(tool: &Fields<'_>) -> Result<String, BadField> {
    if tool.text("type")?.is_some_and(|kind| kind != "custom") {
        return Err(tool.untranslatable("type"));
    }
    let mut function = Object::default();
    function.set("name", quote(&tool.needed("name")?));
    if let Some(description) = tool.text("description")? {
        function.set("description", quote(&description));
    }
    function.set("parameters", tool.take("input_schema").ok_or_else(|| tool.missing("input_schema"))?.to_owned());
    if tool.read::<bool>("strict", "must be true or false")? == Some(true) {
        function.set("strict", "true".to_owned());
    }
    tool.pass_over(&["cache_control"]); // OpenAI caches by itself
    tool.finish()?;
    Ok(format!(r#"{{"type":"function","function":{}}}"#, function.to_text()))
}
