const label = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;
const maxLabelLength = 63;
const maxLength = 253;

/** Whether it is a DNS label in small letters (RFC 1123): 1 to 63 letters, digits and hyphens, none of these at an end. */
export function isDnsLabel(text: string): boolean {
  return text.length <= maxLabelLength && label.test(text);
}

/** Whether it is one DNS label or more with dots between them, of 253 characters at most. */
export function isDnsName(text: string): boolean {
  return text.length <= maxLength && text.split(".").every(isDnsLabel);
}
