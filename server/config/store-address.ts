/** Where the gateway keeps its records: in a file of the data directory, or in a database that others may share. */
export type StoreAddress =
  | { readonly kind: "sqlite" }
  | {
      readonly kind: "postgres";
      /** With its password: for the database's client, and for nobody else. */
      readonly url: string;
      /** `postgres://host:port/database`: what may be shown. */
      readonly shownAs: string;
    };

/**
 * Reads `sqlite` or a URL of PostgreSQL. Answers with a string that says what was expected when the text is
 * neither; it never repeats the text, which may hold a password.
 */
export function parseStoreAddress(text: string): StoreAddress | string {
  if (text === "sqlite") {
    return { kind: "sqlite" };
  }
  if (!/^postgres(ql)?:\/\//.test(text) || !URL.canParse(text)) {
    return "expected sqlite, or postgres://user:password@host:port/database with the special characters of the password percent-encoded";
  }
  const { host, pathname } = new URL(text);
  return { kind: "postgres", url: text, shownAs: `postgres://${host}${pathname}` };
}
