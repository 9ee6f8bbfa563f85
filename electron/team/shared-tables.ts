/**
 * API keys and credits that several hosts share. Hosts notice changes by `version`: a lock makes its order the order of the commits.
 * `spent` and `ceiling` count all credits that a host has ever used of a key, and those that it may use, so that writing them twice changes nothing.
 */
export const sharedKeyTables = `
  CREATE TABLE touchstone.api_keys (
    id uuid PRIMARY KEY,
    version bigint NOT NULL,
    name text NOT NULL,
    caller_id uuid NOT NULL,
    hash bytea NOT NULL UNIQUE CHECK (length(hash) = 32),
    scopes text NOT NULL,
    credit_limit bigint CHECK (credit_limit BETWEEN 0 AND 1000000000),
    requests_per_minute bigint CHECK (requests_per_minute BETWEEN 1 AND 1000000000),
    tokens_per_minute bigint CHECK (tokens_per_minute BETWEEN 1 AND 1000000000),
    record_level text NOT NULL CHECK (record_level IN ('all', 'metadata', 'none')),
    created_at bigint NOT NULL,
    revoked_at bigint
  );
  CREATE INDEX ON touchstone.api_keys (version);
  CREATE SEQUENCE touchstone.api_key_versions;

  CREATE TABLE touchstone.credit_leases (
    key_id uuid NOT NULL REFERENCES touchstone.api_keys (id) ON DELETE CASCADE,
    host_id uuid NOT NULL,
    spent bigint NOT NULL CHECK (spent >= 0),
    ceiling bigint NOT NULL,
    expires_at timestamptz NOT NULL,
    PRIMARY KEY (key_id, host_id)
  );
  CREATE INDEX ON touchstone.credit_leases (host_id);

  -- With the rights of their owner, so that a host needs none for the sequence.
  CREATE FUNCTION touchstone.note_api_key() RETURNS trigger
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog AS $body$
  BEGIN
    IF TG_OP = 'UPDATE' THEN
      -- Nobody gives a key to another caller or makes a revoked one valid.
      IF (NEW.id, NEW.hash, NEW.caller_id) IS DISTINCT FROM (OLD.id, OLD.hash, OLD.caller_id) THEN
        RAISE EXCEPTION 'The ID, the hash and the caller of a key never change.';
      END IF;
      NEW.revoked_at := coalesce(OLD.revoked_at, NEW.revoked_at);
    END IF;
    PERFORM pg_advisory_xact_lock(7420515119);
    NEW.version := nextval('touchstone.api_key_versions');
    PERFORM pg_notify('touchstone_keys', '');
    RETURN NEW;
  END
  $body$;
  CREATE TRIGGER note_new_api_key BEFORE INSERT ON touchstone.api_keys
    FOR EACH ROW EXECUTE FUNCTION touchstone.note_api_key();
  CREATE TRIGGER note_changed_api_key BEFORE UPDATE ON touchstone.api_keys
    FOR EACH ROW WHEN (OLD.* IS DISTINCT FROM NEW.*) EXECUTE FUNCTION touchstone.note_api_key();
`;
