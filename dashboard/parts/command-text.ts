/** A command as it would have to be typed into a POSIX shell, so that it can be read and pasted. */
export function commandText(command: readonly string[]): string {
  return command.map(shellWord).join(" ");
}

function shellWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
