/** Makes the browser save a text as a file. The text never becomes part of the page. */
export function saveFile(name: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: "application/octet-stream" }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  // By then, browsers have read it.
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
