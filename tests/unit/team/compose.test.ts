import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { readServeOptions } from '../../../electron/server/host-options.ts';

interface Service {
  image: string;
  command?: string[];
  volumes?: string[];
  configs?: { source: string }[];
  depends_on?: Record<string, unknown>;
  network_mode?: string;
}

const compose = parse(readFileSync('docker-compose.yml', 'utf8'), { merge: true }) as {
  services: Record<string, Service>;
  volumes: Record<string, unknown>;
  configs: Record<string, { content: string }>;
};

test('docker-compose.yml has only services, volumes and configurations that exist, with the versions of the images', () => {
  const { services, volumes, configs } = compose;
  for (const { image, ...service } of Object.values(services)) {
    // Built here, or one version of another project.
    expect(image).toMatch(/^touchstone-host$|^[a-z]+:\d+\.\d+/);
    for (const name of Object.keys(service.depends_on ?? {})) expect(services).toHaveProperty(name);
    for (const volume of service.volumes ?? []) expect(volumes).toHaveProperty(volume.split(':')[0]!);
    for (const { source } of service.configs ?? []) expect(configs).toHaveProperty(source);
    if (service.network_mode !== undefined) expect(services).toHaveProperty(service.network_mode.split(':')[1]!);
  }
});

test('docker-compose.yml starts two hosts with valid options, at the addresses of the load balancer', () => {
  const ports = Object.values(compose.services).flatMap(({ command }) => {
    if (command === undefined) return [];
    expect(command.slice(0, 4)).toEqual(['npm', 'run', 'serve', '--']);
    const { port, team } = readServeOptions(command.slice(4))!;
    expect(team).toContain('@database:5432/touchstone');
    return [port];
  });
  expect(ports).toHaveLength(2);
  const servers = [...compose.configs['balancer']!.content.matchAll(/^ +server (\S+) (\S+) check$/gm)];
  expect(servers.map(([, name, address]) => [name, address])).toEqual(
    ports.map((port) => [`127.0.0.1:${port}`, `127.0.0.1:${port}`]),
  );
});
