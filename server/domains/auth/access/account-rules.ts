import { invalidField } from "../../../../adapters/host/infra-error.ts";
import { UserService } from "../../../../gen/hostplane/v1/user_pb.ts";

const userName = /^[A-Za-z0-9_-]{3,24}$/;
/** Also the name of a user of an identity provider, such as `alice@corp` (providers/provider-user.ts). */
const anyUserName = /^([A-Za-z0-9_-]{3,24}|[A-Za-z0-9][A-Za-z0-9._-]{0,63}@[a-z0-9-]{1,31})$/;
const apiTokenName = /^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/;

/** Bounds the memory that one account takes on every gateway. */
const maxCertificateNames = 16;
const maxCertificateNameLength = 255;

/**
 * Forms of names in certificates; the values are those of server/rpc/protocols/http/certificate-names.ts. None has characters that
 * reorder a text, since an approver reads the name in a plan.
 */
const certificateNameForms: Readonly<Record<string, RegExp>> = {
  CN: /^[^\p{Cc}\p{Bidi_Control}]{1,64}$/u,
  DNS: /^(\*\.)?([A-Za-z0-9_]([A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?\.)*[A-Za-z0-9_]([A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?$/,
  URI: /^[A-Za-z][A-Za-z0-9+.-]*:[!-~]+$/,
  email: /^[^\s\p{Cc}\p{Bidi_Control}@]+@[^\s\p{Cc}\p{Bidi_Control}@]+$/u,
};

/** @throws InfraError INVALID_FIELD */
export function assertUserName(name: string): void {
  if (!userName.test(name)) {
    throw invalidField("name", "must be 3 to 24 letters, digits, '-' and '_'");
  }
}

/** Checks the name of an existing user. @throws InfraError INVALID_FIELD */
export function assertAnyUserName(name: string): void {
  if (!anyUserName.test(name)) {
    throw invalidField(
      "name",
      "must be 3 to 24 letters, digits, '-' and '_', or the name of a user of an identity provider, such as alice@corp",
    );
  }
}

/** @throws InfraError INVALID_FIELD */
export function assertApiTokenName(name: string): void {
  if (!apiTokenName.test(name)) {
    throw invalidField(
      "name",
      "must be 1 to 63 letters, digits, '-', '_' and '.', beginning with a letter or digit",
    );
  }
}

/**
 * Returns the services that an account is limited to, sorted and without duplicates; null for an empty list, which sets no
 * limit. The list must not contain UserService, whose callers can lift any limit.
 * @param known full names of all services of the contract
 * @throws InfraError INVALID_FIELD
 */
export function serviceLimitFrom(
  services: readonly string[],
  known: readonly string[],
): readonly string[] | null {
  const unknown = services.find((name) => !known.includes(name));
  if (unknown !== undefined) {
    throw invalidField(
      "services",
      `unknown service ${JSON.stringify(unknown)} (available: ${known.join(", ")})`,
    );
  }
  if (services.includes(UserService.typeName)) {
    throw invalidField(
      "services",
      `must not contain ${UserService.typeName}: a caller that may manage users can grant itself every other service`,
    );
  }
  return services.length === 0 ? null : [...new Set(services)].toSorted();
}

/**
 * Returns the certificate names of a user without duplicates.
 * @throws InfraError INVALID_FIELD
 */
export function certificateNamesFrom(names: readonly string[]): readonly string[] {
  const unique = [...new Set(names)];
  if (unique.length > maxCertificateNames) {
    throw invalidField("certificate_names", `must have at most ${maxCertificateNames} names`);
  }
  for (const name of unique) {
    if (!isCertificateName(name)) {
      throw invalidField(
        "certificate_names",
        `${JSON.stringify(name)} is not a certificate name: expected CN= and a common name, or DNS:, URI: or email: and a name of that type, at most ${maxCertificateNameLength} characters`,
      );
    }
  }
  return unique;
}

function isCertificateName(name: string): boolean {
  const [, type = "", value = ""] = /^(CN(?==)|DNS(?=:)|URI(?=:)|email(?=:)).(.*)$/s.exec(name) ?? [];
  return name.length <= maxCertificateNameLength && certificateNameForms[type]?.test(value) === true;
}
