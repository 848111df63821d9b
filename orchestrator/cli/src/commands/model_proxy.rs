//! `sandbox models`: language models for other programs.

use std::net::SocketAddr;
use std::time::Duration;

use agents::llm::ModelSettings;
use camino::Utf8PathBuf;
use host_check::Key;
use llm_client::Proxy;
use serde_json::json;
use tokio::net::TcpListener;

use crate::failure::{OrFail as _, Outcome};
use crate::options::DataFolder;
use crate::options::models::ModelOptions;
use crate::options::units;
use crate::terminal::interrupt;
use crate::terminal::out;

/// Serve a language model to programs
#[derive(clap::Args)]
pub(crate) struct ModelsCommand {
    #[command(subcommand)]
    action: Action,
}

#[derive(clap::Subcommand)]
enum Action {
    Proxy(ProxyCommand),
}

/// Serve OpenAI's chat completions in front of a model, and record the replies
///
/// Prints one line of JSON with base_url. A program takes it as OPENAI_BASE_URL. Its path has a
/// key, so that other users of the machine cannot spend yours; any OPENAI_API_KEY will do. Recorded
/// calls are answered from the cassette. All others go to the server at OPENAI_BASE_URL with the
/// key in OPENAI_API_KEY, or to the server that --settings names. With --offline no server is
/// asked. GET /v1/usage returns calls, tokens and cost so far. Ctrl-C stops the proxy, which prints
/// the same line.
#[derive(clap::Args)]
struct ProxyCommand {
    /// Model to ask, whatever model the program names
    #[arg(long, value_name = "MODEL")]
    model: Option<String>,
    /// File with settings of the model: the keys below `model` in an agent's settings
    #[arg(long, value_name = "FILE")]
    settings: Option<Utf8PathBuf>,
    /// Address to listen on; port 0 is a free port
    #[arg(long, value_name = "ADDR:PORT", default_value = "127.0.0.1:0")]
    listen: SocketAddr,
    /// File with the secret that the key in base_url is derived from, made if absent [default:
    /// server.key in the folder of --data]
    #[arg(long, value_name = "FILE")]
    key: Option<Utf8PathBuf>,
    /// How long the server may take for one reply
    #[arg(long, value_name = "TIME", default_value = "600s", value_parser = units::seconds)]
    timeout: Duration,
    #[command(flatten)]
    models: ModelOptions,
    #[command(flatten)]
    data: DataFolder,
}

impl ModelsCommand {
    /// Serves until interrupted.
    pub(crate) async fn run(self) -> Outcome {
        match self.action {
            Action::Proxy(proxy) => proxy.run().await,
        }
    }
}

impl ProxyCommand {
    async fn run(self) -> Outcome {
        let settings = self.settings.as_ref().map(|path| ModelSettings::read(path)).transpose();
        let settings = settings.or_input("use the model's settings")?.unwrap_or_default();
        let models = self.models.open(true, &self.data)?;
        let name = self.model.or_else(|| settings.name.clone());
        let model = models.for_anybody(name, &settings, self.timeout)?;
        let key = Key::of_file(&self.data.server_key(self.key.as_deref())?, "models")
            .or_environment("make the key of the proxy")?;
        let listening = format!("listen at {}", self.listen);
        let listener = TcpListener::bind(self.listen).await.or_environment(&listening)?;
        let proxy = Proxy::new(model);
        let interrupted = interrupt::token();
        let served = proxy
            .serve(
                listener,
                key,
                |url| out::json_line(&json!({ "base_url": url })),
                interrupted.cancelled_owned(),
            )
            .await;
        out::json_line(&json!(proxy.totals()));
        served.or_environment("serve the model")
    }
}
