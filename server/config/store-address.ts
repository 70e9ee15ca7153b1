/** Where the gateway stores its records: a file in the data directory, or a database that several gateways may share. */
export type StoreAddress =
  | { readonly kind: "sqlite" }
  | {
      readonly kind: "postgres";
      /** Includes the password: only for the database client. */
      readonly url: string;
      /** Without user and password: `postgres://host:port/database`. */
      readonly shownAs: string;
    };

/**
 * Parses `sqlite` or a PostgreSQL URL. Returns a string with the expected form if the text is neither. That string never repeats
 * the text, which may contain a password.
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
