/** Shortens an error for display beside its field: "name: may contain only letters" without the name, which the label shows. */
export function messageAtField(message: string, field: string): string {
  return message.startsWith(`${field}: `) ? message.slice(`${field}: `.length) : message;
}
