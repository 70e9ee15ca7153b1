/** Formats a command as POSIX shell input, to be read and pasted. */
export function commandText(command: readonly string[]): string {
  return command.map(shellWord).join(" ");
}

function shellWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
