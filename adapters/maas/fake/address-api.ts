import { isIP } from "node:net";
import { deleted, type FakeAnswer, invalidAnswer, jsonAnswer, textAnswer } from "./answer.ts";
import type { SignedRequest } from "./check-signature.ts";
import { defaultAddressPrefix, type FakeRegion } from "./region.ts";
import { renderAddress, renderRange, subnetOf } from "./render.ts";

/** `GET ipranges/`, which every user may read. */
export function listRanges({ options, subnet }: FakeRegion): FakeAnswer {
  return jsonAnswer(
    subnet.ranges.map((range, index) =>
      renderRange(range, index + 1, options.addressPrefix, subnet.isManaged),
    ),
  );
}

/** `GET ipaddresses/`. */
export function listAddresses({ reservations, options }: FakeRegion, { user }: SignedRequest): FakeAnswer {
  const ours = [...reservations].filter(([, { username }]) => username === user.username);
  return jsonAnswer(ours.map(([ip, { username }]) => renderAddress(ip, username, options.nowMs())));
}

/** `POST ipaddresses/?op=reserve`. */
export function reserveAddress(region: FakeRegion, { form, user }: SignedRequest): FakeAnswer {
  const requested = form.get("ip") ?? form.get("ip_address") ?? undefined;
  const hostname = form.get("hostname") ?? "";
  const { addressPrefix = defaultAddressPrefix } = region.options;
  const refusal =
    requested === undefined
      ? refusalOfSubnet(form.get("subnet"), addressPrefix)
      : refusalOfAddress(region, requested, addressPrefix);
  if (refusal !== undefined) {
    return refusal;
  }
  const domain = hostname.split(".").slice(1).join(".");
  if (domain !== "" && domain !== "maas") {
    return textAnswer(404, "No Domain matches the given query.");
  }
  const unavailable = requested === undefined ? undefined : refusalOfUse(region, requested, addressPrefix);
  if (unavailable !== undefined) {
    return unavailable;
  }
  const address = requested ?? region.freeAddress();
  if (address === undefined) {
    return textAnswer(503, `No more IPs available in subnet: ${subnetOf(addressPrefix)}.`);
  }
  region.reservations.set(address, { username: user.username, hostname });
  return jsonAnswer(renderAddress(address, user.username, region.options.nowMs()));
}

function refusalOfSubnet(subnet: string | null, addressPrefix: string): FakeAnswer | undefined {
  if (subnet === null) {
    return textAnswer(400, "Must supply either the 'subnet' or the 'ip' parameter.");
  }
  return subnet === subnetOf(addressPrefix)
    ? undefined
    : textAnswer(400, `Unable to identify subnet: ${subnet}.`);
}

function refusalOfAddress(
  region: FakeRegion,
  address: string,
  addressPrefix: string,
): FakeAnswer | undefined {
  if (isIP(address) === 0) {
    return invalidAnswer({ ip_address: ["Enter a valid IPv4 or IPv6 address."] });
  }
  if (!address.startsWith(`${addressPrefix}.`)) {
    return textAnswer(400, `No known subnet for IP address: ${address}.`);
  }
  const words = `IP address ${address} belongs to an existing dynamic range.`;
  const hint = "To reserve this IP address, a MAC address is required. (Create a device instead.)";
  return region.rangeOf("dynamic", address) === undefined ? undefined : textAnswer(403, `${words} ${hint}`);
}

/** Also for a range that the user owns, and in an unmanaged subnet. */
function refusalOfUse(region: FakeRegion, address: string, addressPrefix: string): FakeAnswer | undefined {
  const reserved = region.rangeOf("reserved", address);
  if (reserved !== undefined) {
    const [first, last] = [reserved.first, reserved.last].map((number) => `${addressPrefix}.${number}`);
    return textAnswer(404, `${address} is within the reserved range from ${first} to ${last}`);
  }
  return region.isAddressTaken(address)
    ? textAnswer(404, `The IP address ${address} is already in use.`)
    : undefined;
}

/** `POST ipaddresses/?op=release`. */
export function releaseAddress({ reservations }: FakeRegion, { form, user }: SignedRequest): FakeAnswer {
  const ip = form.get("ip") ?? "";
  if (reservations.get(ip)?.username !== user.username) {
    const why = "is not the correct type of address, or does not belong to the requesting user.";
    const hint = "If you are sure you want to release this address, use force=true as a MAAS administrator.";
    return textAnswer(400, `IP address ${ip} does not exist, ${why}\n${hint}`);
  }
  reservations.delete(ip);
  return deleted;
}
