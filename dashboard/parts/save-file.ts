/** Has the browser save a text as a file. The text is never a part of the page. */
export function saveFile(name: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: "application/octet-stream" }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  // Browsers have taken it by then.
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
