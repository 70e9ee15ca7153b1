/** What the page says about a method that the script can call (server/web/docs/method-section.ts). */
export interface CallableMethod {
  /** `package.Service/Method` */
  readonly path: string;
  readonly name: string;
  /** `anyone` needs no login. */
  readonly role: string;
  /** An example request as JSON. */
  readonly request: string;
  readonly isStream: boolean;
  readonly isChange: boolean;
  readonly hasPlan: boolean;
  readonly takesIdempotencyKey: boolean;
}

/** Reads a method from its section in the page; undefined if the script cannot call it. */
export function callableMethodOf({ dataset }: HTMLElement): CallableMethod | undefined {
  const { method: path, role = "", request = "{}", call = "" } = dataset;
  const words = call.split(" ");
  return path === undefined
    ? undefined
    : {
        path,
        name: path.slice(path.indexOf("/") + 1),
        role,
        request,
        isStream: words.includes("stream"),
        isChange: words.includes("change"),
        hasPlan: words.includes("plan"),
        takesIdempotencyKey: words.includes("key"),
      };
}
