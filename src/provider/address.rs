//! Addresses of a server, read out of what people write.

use reqwest::Url;

use super::error::ProviderError;

/// What ends the paths of the wire formats.
const ENDINGS: &[&str] = &["/chat/completions", "/messages", "/responses"];

/// Reads the address that ends in `ending` out of a base or a full one; a query string stays.
///
/// The ending of another wire format is replaced, since it is the same server.
pub(super) fn endpoint(text: &str, ending: &str) -> Result<Url, ProviderError> {
    let text = text.trim();
    let shown = text.split(['?', '#']).next().unwrap_or_default();
    let shown = match shown.split_once("://") {
        // What stands before an @ may be a password.
        Some((scheme, rest)) => match rest.rsplit_once('@') {
            Some((_, rest)) => format!("{scheme}://{rest}"),
            None => shown.to_owned(),
        },
        None => shown.to_owned(),
    };
    let refused = |why: &str| ProviderError::Url { url: shown.clone(), why: why.to_owned() };
    if !text.contains("://") {
        return Err(refused("it does not begin with http:// or https://"));
    }
    let mut url = Url::parse(text).map_err(|error| refused(&error.to_string()))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(refused("only http and https are possible"));
    }
    let path = url.path().trim_end_matches('/');
    let base = ENDINGS.iter().find_map(|ending| path.strip_suffix(ending)).unwrap_or(path);
    let path = format!("{base}{ending}");
    url.set_path(&path);
    url.set_fragment(None);
    Ok(url)
}

/// Returns the address of another part of the server, such as `/models`.
pub(super) fn beside(endpoint: &Url, ending: &str) -> Url {
    let path = endpoint.path();
    let base = ENDINGS.iter().find_map(|ending| path.strip_suffix(ending)).unwrap_or(path);
    let mut url = endpoint.clone();
    url.set_path(&format!("{base}{ending}"));
    url
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_base_and_a_full_address_lead_to_the_same_place() {
        let rows = [
            ("http://h:1/v1", "http://h:1/v1/chat/completions"),
            (" https://h/v1/ ", "https://h/v1/chat/completions"),
            ("http://h", "http://h/chat/completions"),
            ("http://h/v1/chat/completions/", "http://h/v1/chat/completions"),
            ("https://h/d/x?api-version=1", "https://h/d/x/chat/completions?api-version=1"),
            (
                "h:1/v1",
                "`h:1/v1` is not the address of a model server: it does not begin with http:// or https://",
            ),
            (
                "ftp://h",
                "`ftp://h` is not the address of a model server: only http and https are possible",
            ),
            ("http://u:pw@?k=secret", "`http://` is not the address of a model server: empty host"),
        ];
        for (text, expected) in rows {
            let found = endpoint(text, "/chat/completions")
                .map_or_else(|error| error.to_string(), |url| url.to_string());
            assert_eq!(found, expected, "{text}");
        }
    }
}
