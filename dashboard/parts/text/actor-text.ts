/** Returns the name of a user, or the actor of another kind as it is, e.g. `token/ci`. */
export function actorText(actor: string): string {
  return actor.replace(/^user\//, "");
}
