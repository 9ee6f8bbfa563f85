import type { TeamInput, TeamState } from '../../../../shared/contract/team.ts';
import { formatTeamAddress, parseTeamAddress, type TeamAddress } from '../../../../shared/team-address.ts';

/** The connection as its fields have it. */
export interface TeamFields {
  /** `host:port/database`, `/database?host=FOLDER` for a socket, or a whole address that was typed. */
  readonly address: string;
  readonly user: string;
  /** Null keeps the stored one. */
  readonly password: string | null;
  readonly isEncrypted: boolean;
  /** The file of `sslrootcert`. */
  readonly authorities: string | null;
  /** Undefined keeps the stored certificates, null removes them. */
  readonly authority: TeamInput['authority'];
}

export const emptyFields: TeamFields = {
  address: '',
  user: '',
  password: '',
  isEncrypted: true,
  authorities: null,
  authority: undefined,
};

const isWhole = (text: string): boolean => /^postgres(?:ql)?:\/\//.test(text.trim());

function location(address: TeamAddress): string {
  const whole = formatTeamAddress({ ...address, isEncrypted: true, authorities: null });
  return whole.replace(/^postgres:\/\/[^@]*@/, '');
}

export function fieldsOf({ address, hasPassword }: TeamState): TeamFields {
  if (address === null) return emptyFields;
  const parsed = parseTeamAddress(address);
  const { user, isEncrypted, authorities } = parsed;
  return {
    ...emptyFields,
    address: location(parsed),
    user,
    isEncrypted,
    authorities,
    password: hasPassword ? null : '',
  };
}

/** Fills the fields from a whole address. One that can't be read stays in its field. */
export function spread(fields: TeamFields): TeamFields {
  if (!isWhole(fields.address)) return fields;
  try {
    const parsed = parseTeamAddress(fields.address);
    const { user, isEncrypted, authorities, host } = parsed;
    return {
      ...fields,
      address: location(parsed),
      user,
      password: parsed.password ?? fields.password,
      isEncrypted: isEncrypted || host.startsWith('/'),
      authorities,
      ...(authorities !== null && { authority: null }),
    };
  } catch {
    return fields;
  }
}

/** Throws `invalid_request` for an address that can't be read. */
export function inputOf(typed: TeamFields): TeamInput {
  const { address, user, password, isEncrypted, authorities, authority } = spread(typed);
  const text = address.trim();
  const parsed = parseTeamAddress(isWhole(text) ? text : `postgres://${encodeURIComponent(user.trim())}@${text}`);
  const isSocket = parsed.host.startsWith('/');
  const isProtected = isEncrypted && !isSocket;
  return {
    address: formatTeamAddress({ ...parsed, isEncrypted: isProtected, authorities: isProtected ? authorities : null }),
    password: password === null || password === '' ? parsed.password : password,
    ...(authority !== undefined && { authority: isProtected ? authority : null }),
  };
}

/** A folder of a Unix socket needs no encryption. */
export const isSocket = ({ address }: TeamFields): boolean => /[?&]host=(?:\/|%2f)/i.test(address);
