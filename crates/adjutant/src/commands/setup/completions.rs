//! `adjutant completions`: a script for a shell. It asks the program itself what could be typed, and so
//! stays true when the program is replaced.

use crate::cli::Shell;
use crate::cli_error::CliError;
use crate::terminal::render::print_raw;

/// Lines of candidates, ready to be typed. A folder or a flag that wants a value is not at its end.
const BASH: &str = r#"# Completion of adjutant, for bash.
_adjutant() {
    local line
    COMPREPLY=()
    while IFS= read -r line; do
        COMPREPLY+=("$line")
    done < <(adjutant __complete bash "$COMP_CWORD" "${COMP_WORDS[@]}" 2>/dev/null)
    if [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *[/=] ]]; then
        compopt -o nospace 2>/dev/null
    fi
}
complete -o nosort -F _adjutant adjutant 2>/dev/null || complete -F _adjutant adjutant
"#;

const ZSH: &str = r#"#compdef adjutant
# Completion of adjutant, for zsh.
_adjutant() {
    local -a lines folders others
    local line
    lines=("${(@f)$(adjutant __complete zsh $((CURRENT - 1)) "${(@Q)words}" 2>/dev/null)}")
    for line in $lines; do
        if [[ ${line%%:*} == */ ]]; then
            folders+=("${line%%/:*}")
        elif [[ -n $line ]]; then
            others+=("$line")
        fi
    done
    (( $#folders )) && _describe -V 'folder' folders -S '/'
    (( $#others )) && _describe -V 'adjutant' others
    return 0
}
if [[ ${funcstack[1]} == _adjutant ]]; then
    _adjutant "$@"
else
    compdef _adjutant adjutant
fi
"#;

const FISH: &str = r#"# Completion of adjutant, for fish.
function __adjutant_complete
    set -l before (commandline --tokenize --cut-at-cursor --current-process)
    set -l current (commandline --current-token --cut-at-cursor)
    adjutant __complete fish (count $before) $before "$current" 2>/dev/null
end
complete --command adjutant --no-files --keep-order --arguments '(__adjutant_complete)'
"#;

/// Prints completions for a shell.
pub(crate) fn run(shell: Shell) -> Result<(), CliError> {
    let script = match shell {
        Shell::Bash => BASH,
        Shell::Zsh => ZSH,
        Shell::Fish => FISH,
    };
    Ok(print_raw(script.as_bytes())?)
}
