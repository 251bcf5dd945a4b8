//! Ready calls with a key: curl and the SDKs that people have.

use leptos::prelude::*;

use super::copy::CopyButton;
use super::segmented::Segmented;
use crate::i18n::language;

/// A call in one language. The secret is read from an environment variable, so that it ends up in no file.
fn written(kind: &str, gateway: &str, model: &str) -> String {
    match kind {
        "curl" => format!(
            "curl {gateway}/v1/chat/completions \\\n  -H \"Authorization: Bearer $TOLLGATE_KEY\" \\\n  \
             -H \"Content-Type: application/json\" \\\n  \
             -d '{{\"model\": \"{model}\", \"messages\": [{{\"role\": \"user\", \"content\": \"Hello\"}}]}}'"
        ),
        "python" => format!(
            "import os\nfrom openai import OpenAI\n\n\
             client = OpenAI(base_url=\"{gateway}/v1\", api_key=os.environ[\"TOLLGATE_KEY\"])\n\
             reply = client.chat.completions.create(\n    model=\"{model}\",\n    \
             messages=[{{\"role\": \"user\", \"content\": \"Hello\"}}],\n)\nprint(reply.choices[0].message.content)"
        ),
        _ => format!(
            "import OpenAI from \"openai\";\n\n\
             const client = new OpenAI({{ baseURL: \"{gateway}/v1\", apiKey: process.env.TOLLGATE_KEY }});\n\
             const reply = await client.chat.completions.create({{\n  model: \"{model}\",\n  \
             messages: [{{ role: \"user\", content: \"Hello\" }}],\n}});\nconsole.log(reply.choices[0].message.content);"
        ),
    }
}

/// A ready call, with a copy button.
#[component]
pub fn Snippets(
    /// Where the gateway is.
    #[prop(into)]
    gateway: Signal<String>,
    /// A model that the key may call.
    #[prop(into)]
    model: Signal<String>,
) -> impl IntoView {
    let t = language();
    let kind = RwSignal::new("curl");
    let text = Signal::derive(move || written(kind.get(), &gateway.get(), &model.get()));
    let kinds = vec![("curl", "curl"), ("python", "Python"), ("javascript", "JavaScript")];
    view! {
        <div class="code">
            <div class="code-head">
                <Segmented name="snippet" label=t.snippet() label_hidden=true small=true choices=kinds value=kind/>
                <CopyButton text=text label=t.copy() caption=t.copy().to_owned() class="sm"/>
            </div>
            <pre tabindex="0" role="region" aria-label=move || kind.get()><code>{move || text.get()}</code></pre>
        </div>
    }
}

#[cfg(test)]
mod tests {
    use super::written;

    #[test]
    fn calls_name_gateway_and_model_and_never_a_secret() {
        for kind in ["curl", "python", "javascript"] {
            let text = written(kind, "http://127.0.0.1:8080", "atlas");
            assert!(text.contains("http://127.0.0.1:8080/v1") && text.contains("\"atlas\""), "{text}");
            assert!(text.contains("TOLLGATE_KEY") && !text.contains("tg_live"), "{text}");
        }
    }
}
