/** Opens the page of a row. @param path absolute, such as "/volumes/vg0/data" */
export function openPath(path: string): void {
  location.hash = path;
}
