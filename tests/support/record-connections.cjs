// Every Node process of `npm test` loads this first, also the hosts that tests start and their children. It writes down whatever
// leaves this device: connections, datagrams and questions for a name. A check after all suites reads it.
const childProcess = require('node:child_process');
const dgram = require('node:dgram');
const dns = require('node:dns');
const { appendFileSync } = require('node:fs');
const { syncBuiltinESMExports } = require('node:module');
const net = require('node:net');
const { join } = require('node:path');
const { isMainThread } = require('node:worker_threads');

const folder = process.env['TOUCHSTONE_CONNECTIONS'];
const program = process.versions['electron'] ? 'electron' : (process.argv[1] ?? 'node');
const thisDevice = /^(?:localhost|127\.[\d.]+|::1|::ffff:127\.[\d.]+|::ffff:7f[\da-f]{2}:[\da-f]+|0\.0\.0\.0|::)?$/i;

function write(entry) {
  // One write of a short line is whole, whoever else writes to the file.
  appendFileSync(join(folder, 'connections.jsonl'), `${JSON.stringify({ program, ...entry })}\n`);
}

function record(host, port) {
  const name = String(host ?? '').replace(/^\[|\]$/g, '');
  if (thisDevice.test(name)) return;
  const frames = (new Error().stack ?? '')
    .split('\n')
    .filter((line) => /[\\/](?:electron|tests|scripts|out)[\\/]/.test(line));
  write({ host: name, port, at: frames.find((line) => !line.includes(__filename))?.trim() ?? null });
}

/** Calls `before` with the arguments of every call of a method. */
function watch(object, name, before) {
  const original = object[name];
  if (typeof original !== 'function') return;
  object[name] = function watched(...parameters) {
    before(parameters);
    return original.apply(this, parameters);
  };
  // Programs tell functions apart by what is attached to them, as `util.promisify` does.
  Object.defineProperties(object[name], Object.getOwnPropertyDescriptors(original));
}

function watchConnections() {
  watch(net.Socket.prototype, 'connect', (parameters) => {
    // `net.connect` hands its arguments over in order already.
    const [options] = Array.isArray(parameters[0]) ? parameters[0] : net._normalizeArgs(parameters);
    if (!options.path) record(options.host ?? 'localhost', Number(options.port));
  });
  watch(dgram.Socket.prototype, 'connect', ([port, address]) => record(address, port));
  watch(dgram.Socket.prototype, 'send', (parameters) => {
    const address = parameters.slice(1).find((parameter) => typeof parameter === 'string');
    record(address, parameters[parameters.indexOf(address) - 1]);
  });
}

function watchNames() {
  const targets = [dns, dns.promises, dns.Resolver.prototype, dns.promises.Resolver.prototype];
  for (const target of targets) {
    const methods = Object.getOwnPropertyNames(target).filter((name) => /^(?:lookup|resolve|reverse)/.test(name));
    for (const method of methods) watch(target, method, ([host]) => net.isIP(host) === 0 && record(host, null));
  }
}

/** The host gives its children few variables. Those of Node get these two again, so that they are watched as well. */
function watchChildren() {
  watch(childProcess.ChildProcess.prototype, 'spawn', ([options]) => {
    const isNode = options.file === process.execPath && !process.versions['electron'];
    if (!isNode || options.envPairs?.some((pair) => pair.startsWith('NODE_OPTIONS='))) return;
    options.envPairs?.push(`NODE_OPTIONS=${process.env['NODE_OPTIONS']}`, `TOUCHSTONE_CONNECTIONS=${folder}`);
  });
}

if (folder) {
  if (isMainThread) write({});
  watchConnections();
  watchNames();
  watchChildren();
  syncBuiltinESMExports();
}
