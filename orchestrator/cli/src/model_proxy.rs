//! `sandbox models`: what there is for programs that ask models themselves.

use std::net::SocketAddr;
use std::time::Duration;

use agents::llm::ModelSettings;
use camino::Utf8PathBuf;
use models::Proxy;
use serde_json::json;
use tokio::net::TcpListener;

use crate::failure::{OrFail as _, Outcome};
use crate::interrupt;
use crate::models::ModelOptions;

/// Language models, for programs that ask them themselves
#[derive(clap::Args)]
pub(crate) struct ModelsCommand {
    #[command(subcommand)]
    what: What,
}

#[derive(clap::Subcommand)]
enum What {
    Proxy(ProxyCommand),
}

/// Serve OpenAI's chat completions before a model, and record what is said
///
/// Prints one line of JSON with base_url, which a program takes as OPENAI_BASE_URL: what is in the cassette is answered from
/// it, and the rest by the server at OPENAI_BASE_URL with the key in OPENAI_API_KEY, or the one that --settings names. With
/// --offline nobody is asked. GET /v1/usage tells calls, tokens and cost so far; Ctrl-C ends it with the same line.
#[derive(clap::Args)]
struct ProxyCommand {
    /// The model that is asked, whatever name a program says
    #[arg(long, value_name = "MODEL")]
    model: Option<String>,
    /// How it is asked: a file with the keys that `model` has in an agent's settings
    #[arg(long, value_name = "FILE")]
    settings: Option<Utf8PathBuf>,
    /// Where to listen; port 0 is a free one
    #[arg(long, value_name = "ADDR:PORT", default_value = "127.0.0.1:0")]
    listen: SocketAddr,
    /// How long the server may take for one reply, in seconds
    #[arg(long, value_name = "S", default_value_t = 600)]
    timeout: u64,
    #[command(flatten)]
    models: ModelOptions,
}

impl ModelsCommand {
    /// Serves until interrupted.
    pub(crate) async fn run(self) -> Outcome {
        match self.what {
            What::Proxy(proxy) => proxy.run().await,
        }
    }
}

impl ProxyCommand {
    async fn run(self) -> Outcome {
        let settings = self.settings.as_ref().map(|path| ModelSettings::read(path)).transpose();
        let settings = settings.or_input("use the model's settings")?.unwrap_or_default();
        let models = self.models.open(true)?;
        let name = self.model.or_else(|| settings.name.clone());
        let model = models.for_anybody(name, &settings, Duration::from_secs(self.timeout))?;
        let listening = format!("listen at {}", self.listen);
        let listener = TcpListener::bind(self.listen).await.or_environment(&listening)?;
        let at = listener.local_addr().or_environment(&listening)?;
        let proxy = Proxy::new(model);
        println!("{}", json!({ "base_url": format!("http://{at}/v1") }));
        let interrupted = interrupt::token();
        let served = proxy.serve(listener, interrupted.cancelled_owned()).await;
        println!("{}", json!(proxy.totals()));
        served.or_environment("serve the model")
    }
}
