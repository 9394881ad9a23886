import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { register } from '../../src/commands/watchdog.ts'
import { PATHS } from '../../src/http/probes.ts'
import { optionsFrom } from '../unit/commands/support.ts'

const EXAMPLES = new URL('../../examples/', import.meta.url)

const read = (path: string) => readFileSync(new URL(path, EXAMPLES), 'utf8')

/** The drain takes 10 s at most; the time before a kill must be longer. */
const DRAIN_S = 10
const PROGRAM = '/usr/local/bin/leasectl'

/** Without the comments, which explain why npx is not used. */
const unit = read('systemd/leasectl-watchdog.service').replace(/^#.*\n/gm, '')
const manifest = parseAllDocuments(read('kubernetes/watchdog.yaml')).map(document => document.toJS() as Manifest)

interface Manifest {
  readonly kind: string
  readonly spec?: { readonly replicas?: number; readonly template?: { readonly spec: PodSpec } }
}

interface PodSpec {
  readonly terminationGracePeriodSeconds: number
  readonly containers: readonly [Container]
}

interface Probe {
  readonly httpGet: { readonly path: string; readonly port: string }
}

interface Container {
  readonly command: readonly string[]
  readonly args: readonly string[]
  readonly ports: readonly { readonly name: string; readonly containerPort: number }[]
  readonly livenessProbe: Probe
  readonly readinessProbe: Probe
  readonly securityContext: Readonly<Record<string, unknown>>
}

function settingsOf(name: string): string[] {
  return [...unit.matchAll(new RegExp(`^${name}=((?:.*\\\\\\n)*.*)$`, 'gm'))].map(([, value = '']) => value)
}

function podSpec(): PodSpec {
  const spec = manifest.find(({ kind }) => kind === 'Deployment')?.spec?.template?.spec
  if (spec === undefined) throw new Error('the manifest has no Deployment')
  return spec
}

/** Program and arguments of the unit. */
function started(): string[] {
  return (settingsOf('ExecStart')[0] ?? '').replaceAll('\\\n', ' ').split(/\s+/)
}

describe('the start command', () => {
  const { command, args } = podSpec().containers[0]
  const [program, ...rest] = started()
  const lines = [
    ['the unit', [program], rest],
    ['the manifest', command, args],
  ] as const

  test.each(lines)('of %s is the single executable itself, without a shell or npx', (_, starts) => {
    expect(starts).toEqual([PROGRAM])
  })

  test.each(lines)('of %s has flags that the watchdog accepts', async (_, _program, given) => {
    expect(given[0]).toBe('watchdog')
    await expect(optionsFrom(register, given)).resolves.toMatchObject({ listen: { port: 9464 }, interval: 30_000 })
  })

  test('of the image is the same program, as npm run package makes it', () => {
    expect(read('kubernetes/Dockerfile')).toMatch(/^COPY leasectl-\*-linux-\*\/leasectl \/usr\/local\/bin\/leasectl$/m)
    const entry = /^ENTRYPOINT (.*)$/m.exec(read('kubernetes/Dockerfile'))?.[1] ?? '[]'
    expect(JSON.parse(entry)).toEqual(command)
  })

  test('of no example is npx or contains a secret', () => {
    for (const file of readdirSync(EXAMPLES, { recursive: true, encoding: 'utf8' }).filter(name =>
      /\.\w+$/.test(name),
    )) {
      const commands = read(file).replace(/^\s*#.*$/gm, '')
      if (!file.endsWith('.md')) expect(commands, file).not.toMatch(/npx|sig=|AccountKey/)
    }
  })
})

describe('the unit', () => {
  test('waits for readiness, accepts messages of systemd-notify, and gives time to drain', () => {
    expect(settingsOf('Type')).toEqual(['notify'])
    expect(settingsOf('NotifyAccess')).toEqual(['all'])
    expect(settingsOf('TimeoutStartSec')).toEqual(['infinity'])
    expect(settingsOf('KillMode')).toEqual(['mixed'])
    expect(Number(settingsOf('TimeoutStopSec')[0])).toBeGreaterThan(DRAIN_S)
    expect(Number(settingsOf('WatchdogSec')[0])).toBeGreaterThan(0)
  })

  test('restarts after a failure, but not after a usage error', () => {
    expect(settingsOf('Restart')).toEqual(['on-failure'])
    expect(settingsOf('RestartPreventExitStatus')).toEqual(['2'])
    expect(settingsOf('StartLimitIntervalSec')).toEqual(['0'])
  })

  test('lets systemd-notify reach systemd, and JavaScript be compiled', () => {
    expect(settingsOf('RestrictAddressFamilies')[0]?.split(' ')).toEqual(expect.arrayContaining(['AF_UNIX', 'AF_INET']))
    expect(settingsOf('MemoryDenyWriteExecute')).toEqual([])
  })
})

describe('the manifest', () => {
  const { containers, terminationGracePeriodSeconds } = podSpec()
  const { args, ports, livenessProbe, readinessProbe } = containers[0]

  test('probes existing paths and a port that is served', () => {
    expect(livenessProbe.httpGet.path).toBe('/livez')
    expect(readinessProbe.httpGet.path).toBe('/readyz')
    for (const { httpGet } of [livenessProbe, readinessProbe]) {
      expect(PATHS).toContain(httpGet.path)
      const port = ports.find(({ name }) => name === httpGet.port)?.containerPort
      expect(args).toContain(`--listen=0.0.0.0:${port}`)
    }
  })

  test('gives time to drain, and has replicas that share the work', () => {
    expect(terminationGracePeriodSeconds).toBeGreaterThan(DRAIN_S)
    expect(manifest.find(({ kind }) => kind === 'Deployment')?.spec?.replicas).toBeGreaterThan(1)
    expect(args.some(arg => arg.startsWith('--shards='))).toBe(true)
  })

  test('requests no permissions', () => {
    expect(containers[0].securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    })
  })
})

test('the examples are part of the package', () => {
  const { files } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))
  expect(files).toContain('examples')
})
