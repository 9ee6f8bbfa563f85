import { createKeyStore } from '../../electron/key-store/create-key-store.ts';

// Does things to the key store of this process's session, `read:ACCOUNT`, `write:ACCOUNT=SECRET`, `remove:ACCOUNT`, and
// prints what came of it as JSON.
const keyStore = await createKeyStore(
  process.env['PROBE_MILLISECONDS'] ? { probeMilliseconds: Number(process.env['PROBE_MILLISECONDS']) } : {},
);
const results: unknown[] = [];
for (const step of process.argv.slice(2)) {
  const [action, rest = ''] = step.split(/:(.*)/s);
  const [account = '', secret = ''] = rest.split('=');
  if (action === 'write') keyStore.write(account, secret);
  else if (action === 'remove') keyStore.remove(account);
  else results.push(keyStore.read(account));
}
process.stdout.write(JSON.stringify({ title: keyStore.title, source: keyStore.source, results }));
