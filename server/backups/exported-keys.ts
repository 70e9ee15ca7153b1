import { invalidField } from "../../adapters/host/infra-error.ts";
import { createSeal, type SealKeys } from "../crypto/seal.ts";

/** The key of a backup repository, as restic's password. */
export interface ExportedKey {
  readonly repository: string;
  /** Name of the key in the gateway that created it. */
  readonly name: string;
  readonly key: string;
}

/** An exported file. */
interface ExportedFile {
  readonly format: typeof format;
  /** Fingerprint of the second key. */
  readonly fingerprint: string;
  readonly sealed: string;
}

const format = "hostplane repository keys 1";
const purpose = "exported-repository-keys";
const context = "file";

/** Encrypts keys with a second key, for a file that outlasts the store and its master key. Returns the text of the file. */
export function sealExportedKeys(keys: readonly ExportedKey[], secondKey: SealKeys): string {
  const sealed = createSeal(secondKey, purpose).seal(Buffer.from(JSON.stringify(keys)), context);
  const file: ExportedFile = {
    format,
    fingerprint: secondKey.current.fingerprint,
    sealed: Buffer.from(sealed).toString("base64"),
  };
  return `${JSON.stringify(file)}\n`;
}

/** Decrypts an exported file. @throws InfraError INVALID_FIELD for another file, or one that the second key does not decrypt */
export function openExportedKeys(text: string, secondKey: SealKeys): readonly ExportedKey[] {
  const file = parseFile(text);
  if (secondKey.find(file.fingerprint) === undefined) {
    throw invalidField(
      "key-file",
      `expected the key ${file.fingerprint}, got ${secondKey.current.fingerprint}`,
    );
  }
  try {
    const secret = createSeal(secondKey, purpose).open(Buffer.from(file.sealed, "base64"), context);
    return JSON.parse(Buffer.from(secret).toString());
  } catch {
    throw invalidField("file", "the file is damaged");
  }
}

function parseFile(text: string): ExportedFile {
  let file: Partial<ExportedFile> | null;
  try {
    file = JSON.parse(text);
  } catch {
    file = null;
  }
  if (file?.format !== format || typeof file.fingerprint !== "string" || typeof file.sealed !== "string") {
    throw invalidField("file", "expected a file that `hostplane store export-keys` has written");
  }
  return file as ExportedFile;
}
