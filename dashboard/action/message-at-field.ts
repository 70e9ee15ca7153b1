/** A refusal as it is told beside its field: "name: may contain only letters" without the name, which the label says. */
export function messageAtField(message: string, field: string): string {
  return message.startsWith(`${field}: `) ? message.slice(`${field}: `.length) : message;
}
