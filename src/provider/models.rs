//! What a server offers.

use serde_json::Value;

use crate::message::Price;

use super::connection::Connection;
use super::error::ProviderError;
use super::failure::Asked;
use super::told::Told;

/// The largest list that is read.
const LARGEST_LIST: usize = 16 << 20;

/// A model that a server offers.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelInfo {
    pub id: String,
    /// How many tokens it reads, where the server tells.
    pub context: Option<u64>,
    /// What it costs, where the server tells.
    pub price: Option<Price>,
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
        Some(ModelInfo {
            id: id?.to_owned(),
            context: context(model),
            price: price(&model["pricing"]),
        })
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

/// Reads prices: of routers for one token, as texts, or of hosts for a million of them.
fn price(pricing: &Value) -> Option<Price> {
    let figure = |value: &Value| {
        let number = value.as_f64().or_else(|| value.as_str()?.trim().parse().ok());
        // A router whose price depends on the model that it chooses says -1.
        number.filter(|number| *number >= 0.0 && number.is_finite())
    };
    let of = |input: &str, output: &str, cached: &str, tokens: f64| {
        Some(Price {
            input: figure(&pricing[input])? * tokens,
            output: figure(&pricing[output])? * tokens,
            cached: figure(&pricing[cached]).map(|price| price * tokens),
        })
    };
    of("prompt", "completion", "input_cache_read", 1e6)
        .or_else(|| of("input", "output", "cached_input", 1.0))
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

    #[test]
    fn prices_are_for_a_million_tokens_however_they_are_written() {
        let price = |input, output, cached| Some(Price { input, cached, output });
        let rows = [
            (r#"{"prompt":"0.000003","completion":"0.000015"}"#, price(3.0, 15.0, None)),
            (
                r#"{"prompt":"0.000001","completion":"0.000002","input_cache_read":"0.00000025"}"#,
                price(1.0, 2.0, Some(0.25)),
            ),
            (r#"{"hourly":0,"input":0.5,"output":1}"#, price(0.5, 1.0, None)),
            (r#"{"prompt":"0","completion":"0"}"#, price(0.0, 0.0, None)),
            (r#"{"prompt":"-1","completion":"-1"}"#, None),
            (r#"{"prompt":"0.1"}"#, None),
            ("null", None),
        ];
        for (pricing, expected) in rows {
            // Millionths have no exact form; twelve digits are enough.
            let round = |number: f64| (number * 1e12).round() / 1e12;
            let found = super::price(&serde_json::from_str(pricing).unwrap());
            let found = found.map(|price| Price {
                input: round(price.input),
                output: round(price.output),
                cached: price.cached.map(round),
            });
            assert_eq!(found, expected, "{pricing}");
        }
    }
}
