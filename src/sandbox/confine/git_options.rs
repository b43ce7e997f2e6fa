//! Options of git that name no file to be written and no program to be started.
//!
//! A closed list: what git learns one day is not in it, nor is an option that is cut short. An
//! option that is missing costs little, since git that only looks works without it being known.

use std::collections::HashSet;
use std::sync::LazyLock;

/// Long options of the sub-commands, which may begin with `no-`.
const LONG: &str = "\
    abbrev abbrev-commit abbrev-ref abort absolute-git-dir add after after-context aggressive \
    ahead-behind all all-match allow-empty allow-empty-message allow-unrelated-histories \
    alternate-refs always amend ancestry-path and annotate annotate-stdin append apply atomic author \
    author-date-order auto auto-gc auto-maintenance autosquash autostash base basic-regexp batch \
    batch-all-objects batch-check batch-command before before-context binary bisect bisect-all \
    bisect-vars boundary branch branches break break-rewrites broken buffer build-options cache \
    cached candidates cc check checkout cherry cherry-mark cherry-pick children chmod cleanup \
    clear-decorations color color-by-age color-lines color-moved color-moved-ws color-words column \
    combined-all-paths commit committer committer-date-is-author-date compact-summary conflict \
    connectivity-only contains contents context continue copy count create create-reflog \
    creation-factor cruft cruft-expiration cumulative dangling date date-order dd debug decorate \
    decorate-refs decorate-refs-exclude deduplicate deepen default default-prefix delete deleted \
    delta-islands dense depth deref dereference detach diff-algorithm diff-filter diff-merges \
    directory dirstat dirstat-by-file dirty disambiguate discard-changes disk-usage do-walk dry-run \
    dst-prefix dual-color edit email empty empty-directory encoding end-of-options eol error-unmatch \
    exact-match exclude exclude-existing exclude-first-parent-only exclude-from exclude-hidden \
    exclude-per-directory exclude-promisor-objects exclude-standard exists exit-code expand-tabs \
    expire expire-unreachable extended-regexp fetch ff ff-only file files-with-matches \
    files-without-match filter filter-print-omitted find-copies find-copies-harder find-object \
    find-renames first-parent fixed-strings fixup flags follow follow-symlinks follow-tags force \
    force-create force-if-includes force-rebase force-with-lease fork-point format from full \
    full-history full-index full-name full-tree function-context geometric get-url git-common-dir \
    git-dir git-path glob gpg-sign graph grep grep-reflog group guess guess-remote hard hash head \
    header heading heads histogram human-readable ignore-all-space ignore-blank-lines ignore-case \
    ignore-cr-at-eol ignore-date ignore-errors ignore-matching-lines ignore-missing \
    ignore-other-worktrees ignore-removal ignore-rev ignore-revs-file ignore-skip-worktree-bits \
    ignore-space-at-eol ignore-space-change ignore-submodules ignore-unmatch ignore-unmerged \
    ignore-whitespace ignored in-commit-order include include-root-refs include-untracked \
    incremental indent-heuristic independent index indexed-objects intent-to-add inter-hunk-context \
    interactive into-name invert-grep invert-match ipv4 ipv6 irreversible-delete is-ancestor \
    is-bare-repository is-inside-git-dir is-inside-work-tree is-shallow-repository \
    ita-invisible-in-index ita-visible-in-index jobs keep keep-base keep-empty keep-index \
    keep-largest-pack keep-pack keep-redundant-commits keep-unreachable killed left-only left-right \
    line-number line-porcelain line-prefix list local local-env-vars local-user lock log log-size \
    long lost-found mailmap mainline master match max-age max-count max-cruft-size max-depth \
    max-pack-size max-parents maximal-only merge merge-base merged merges message min-age \
    min-parents minimal mirror missing mixed modified move multiple name-objects name-only \
    name-status negotiate-only negotiation-tip non-matching not notes null numbered numstat \
    object-names object-only objects objects-edge octopus omit-empty oneline only only-matching \
    only-untracked onto or orphan others ours output-indicator-context output-indicator-new \
    output-indicator-old overlay overwrite-ignore pack-kept-objects parents patch patch-with-raw \
    patch-with-stat path path-format pathspec-file-nul pathspec-from-file patience peel-tag perl \
    perl-regexp pickaxe-all pickaxe-regex points-at porcelain post-rewrite prefetch prefix pretty \
    progress prune prune-packed prune-tags push-option python quiet quit raw reapply-cherry-picks \
    reason rebase rebase-merges recurse recurse-submodules recursive reedit-message ref reflog \
    reflogs refmap refresh refs regexp-ignore-case relative relative-date remerge-diff remotes \
    remove-empty rename-empty renames renormalize repo rerere-autoupdate reset-author \
    reset-author-date resolve-git-dir resolve-undo reuse-message reverse revs-only right-only root \
    rotate-to score-debug separator server-option set-upstream set-upstream-to shallow-exclude \
    shallow-since shared-index-path shell short shortstat show-cdup show-current show-current-patch \
    show-email show-forced-updates show-function show-linear-break show-name show-notes show-number \
    show-object-format show-prefix show-pulls show-ref-format show-signature show-stash show-stats \
    show-superproject-working-tree show-toplevel sign signoff simplify-by-decoration simplify-merges \
    since since-as-filter single-worktree skip skip-to soft sort source sparse sq squash src-prefix \
    stage staged stat stat-count stat-graph-width stat-name-width stat-width status stdin stdout \
    strategy-option strict stripspace submodule summary symbolic symbolic-full-name symref tags tcl \
    term-bad term-good term-new term-old text theirs thin threads timestamp to topo-order track \
    trailer undefined unified unmerged unordered unpack-unreachable unpacked unreachable \
    unset-upstream unshallow until untracked untracked-files update update-head-ok update-refs \
    update-shallow use-bitmap-index use-mailmap verbose verify verify-signatures walk walk-reflogs \
    warn-embedded-repo whitespace window window-memory with-tree without word-diff word-diff-regex \
    word-regexp worktree write-bitmap-index write-commit-graph write-fetch-head write-midx \
    ws-error-highlight zero-commit";

/// Long options that are known by their `no-` alone.
const ONLY_NO: &[&str] = &["no-ext-diff", "no-textconv", "no-filters", "no-exec"];

/// Sub-commands, and letters that write a file or start a program when they are among their short
/// options.
const LETTERS: &[(&str, &[char])] = &[("rebase", &['x']), ("grep", &['O'])];

/// Sub-commands in which `-s` gives the way of merging.
const MERGING: &[&str] = &["merge", "rebase", "pull"];

/// Ways of merging that are git's own. It makes the name of a program of each.
const STRATEGIES: &[&str] = &["ort", "recursive", "resolve", "octopus", "ours", "subtree"];

static KNOWN: LazyLock<HashSet<&str>> = LazyLock::new(|| LONG.split_whitespace().collect());

/// Whether all options among `words` of git's `command` are known to do no harm.
///
/// Words after `--` are looked at, too: it may be the value of an option.
pub(super) fn are_harmless(command: &str, words: &[String]) -> bool {
    let merges = |value: Option<&str>| value.is_some_and(|value| STRATEGIES.contains(&value));
    words.iter().enumerate().all(|(at, word)| {
        let next = words.get(at + 1).map(String::as_str);
        if let Some(long) = word.strip_prefix("--") {
            let (name, value) = long.split_once('=').unzip();
            return match name.unwrap_or(long) {
                "strategy" => merges(value.or(next)),
                name => is_known(name),
            };
        }
        let Some(letters) = word.strip_prefix('-') else { return true };
        let banned = LETTERS.iter().find(|(name, _)| *name == command);
        if banned.is_some_and(|(_, banned)| letters.contains(*banned)) {
            return false;
        }
        if !MERGING.contains(&command) || !letters.contains('s') {
            return true;
        }
        match letters.strip_prefix('s') {
            Some("") => merges(next),
            value => merges(value),
        }
    })
}

fn is_known(name: &str) -> bool {
    let positive = name.strip_prefix("no-").unwrap_or(name);
    name.is_empty() || KNOWN.contains(positive) || ONLY_NO.contains(&name)
}
