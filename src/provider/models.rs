//! What a server offers.

use serde_json::Value;

use super::connection::Connection;
use super::error::ProviderError;
use super::failure::Asked;
use super::told::Told;

/// The largest list that is read.
const LARGEST_LIST: usize = 16 << 20;

/// A model that a server offers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelInfo {
    pub id: String,
    /// How many tokens it reads, where the server tells.
    pub context: Option<u64>,
}

/// Asks the server for its models. It also proves that the server is there and takes the key.
///
/// # Errors
/// As for any request; a server without such a list gives [`ProviderError::Status`].
pub(super) async fn list(connection: &Connection) -> Result<Vec<ModelInfo>, ProviderError> {
    let (server, asked) = (&connection.server, Asked::of(connection));
    let mut response = server.send(server.get(connection.beside("/models"))).await?;
    let status = response.status();
    let body = server.read_some(&mut response, LARGEST_LIST).await;
    if !status.is_success() {
        let told = Told::from_body(&body);
        return Err(asked.failed(status.as_u16(), &told, response.headers()));
    }
    let not_api = |found: &str| ProviderError::NotAnApi {
        host: server.host.clone(),
        found: found.to_owned(),
    };
    let list = serde_json::from_slice::<Value>(&body);
    let list = list.map_err(|_| not_api("something else than JSON"))?;
    read_list(&list).ok_or_else(|| match Told::from_value(&list) {
        Some(told) => asked.reported(&told),
        None => not_api("JSON without a list of models"),
    })
}

fn read_list(list: &Value) -> Option<Vec<ModelInfo>> {
    let models = [&list["data"], &list["models"], list].into_iter().find_map(Value::as_array)?;
    let named = models.iter().filter_map(|model| {
        let id = model["id"].as_str().or_else(|| model["name"].as_str()).or_else(|| model.as_str());
        Some(ModelInfo { id: id?.to_owned(), context: context(model) })
    });
    Some(named.collect())
}

fn context(model: &Value) -> Option<u64> {
    const PLACES: &[&str] = &[
        "/context_length",
        "/context_window",
        "/max_model_len",
        "/max_context_length",
        "/top_provider/context_length",
        "/meta/n_ctx",
        "/meta/n_ctx_train",
    ];
    PLACES.iter().find_map(|place| model.pointer(place)?.as_u64())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_every_shape_are_read() {
        let rows = [
            (r#"{"data":[{"id":"a","context_length":9},{"id":"b"}]}"#, "a 9, b -"),
            (r#"{"object":"list","data":[{"id":"c","meta":{"n_ctx_train":8}}]}"#, "c 8"),
            (r#"{"models":[{"name":"d"}]}"#, "d -"),
            (r#"[{"id":"e","max_model_len":7}]"#, "e 7"),
            (r#"{"data":[]}"#, ""),
        ];
        for (list, expected) in rows {
            let models = read_list(&serde_json::from_str(list).unwrap()).unwrap();
            let context = |model: &ModelInfo| model.context.map_or("-".into(), |n| n.to_string());
            let told = models.iter().map(|model| format!("{} {}", model.id, context(model)));
            assert_eq!(told.collect::<Vec<String>>().join(", "), expected, "{list}");
        }
        assert_eq!(read_list(&serde_json::json!({"error": "x"})), None);
    }
}
