const label = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;
const maxLabelLength = 63;
const maxLength = 253;

/** Reports whether the text is a lowercase DNS label (RFC 1123): 1 to 63 letters, digits and hyphens, no hyphen at either end. */
export function isDnsLabel(text: string): boolean {
  return text.length <= maxLabelLength && label.test(text);
}

/** Reports whether the text is one or more DNS labels separated by dots, of at most 253 characters. */
export function isDnsName(text: string): boolean {
  return text.length <= maxLength && text.split(".").every(isDnsLabel);
}
