#compdef memora

_memora_completion() {
  eval $(env _TYPER_COMPLETE_ARGS="${words[1,$CURRENT]}" _MEMORA_COMPLETE=complete_zsh memora)
}

compdef _memora_completion memora
