import { expect, test } from 'vitest'
import { duration } from '../../../src/cli/values.ts'
import { readWatchdogConfig } from '../../../src/commands/watchdog/config.ts'
import { changeStream, createStream, mustReadStream } from '../../../src/library/streams.ts'
import { parseDuration } from '../../../src/stream/time/durations.ts'
import { readOutput } from '../../../src/worker/program/output-file.ts'
import { cli, newWorld } from './support.ts'

const TAKEN = [
  '30s',
  '1500ms',
  '5m',
  '1h30m',
  '2h',
  '1.5h',
  '0.5d',
  'PT5M',
  'PT0.5H',
  'P1DT1S',
  '00:05:00',
  '0.05:00:00',
]
const REFUSED = ['5', '30:00', '24:00:00', '-2h', '2 hours', '2y', 'P1M', 'soon', '2H', '1h 30', '1e3s', 'NaN']

/** The timeout of an event, in each way to give it; `undefined` if it is refused. */
async function written(text: string): Promise<Readonly<Record<string, string | undefined>>> {
  const world = newWorld()
  const limitOf = async (name: string) =>
    (await world.store.read(name)) && (await mustReadStream(world.store, name)).root.timeout
  const by = { by: 'tester' }
  await cli(world, ['init', 'flag', `--timeout=${text}`])
  const yaml = { files: { 'y.yaml': `root: R\ntimeout: '${text}'\n` } }
  await cli(world, ['init', 'yaml', '--from', 'y.yaml'], yaml)
  await createStream(world.store, 'library', by, { root: { name: 'R', timeout: text } }).catch(() => {})
  await createStream(world.store, 'set', by)
  const set = changeStream(world.store, 'set', by, stream => void stream.root.set({ timeout: text }))
  const wasSet = await set.then(
    () => true,
    () => false,
  )
  return {
    flag: await limitOf('flag'),
    yaml: await limitOf('yaml'),
    library: await limitOf('library'),
    set: wasSet ? await limitOf('set') : undefined,
    output: orNothing(() => readOutput(`timeout=${text}`).attributes.timeout),
  }
}

/** The same for a time in a setting, ms. */
function asSetting(text: string): Readonly<Record<string, number | undefined>> {
  return {
    flag: orNothing(() => duration('--interval')(text)),
    watchdog: orNothing(() => readWatchdogConfig(`interval: '${text}'`, 'w.yaml').interval),
  }
}

function orNothing<Value>(read: () => Value): Value | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}

test.each(TAKEN)(
  '%s is the same time as a flag, in a template, in the library, of a worker and of the watchdog',
  async text => {
    const limits = await written(text)
    expect(new Set(Object.values(limits)).size, JSON.stringify(limits)).toBe(1)
    expect(limits.library).toMatch(/^(\d+\.)?\d\d:\d\d:\d\d(\.\d{7})?$/)
    const ms = parseDuration(text)
    expect(asSetting(text)).toEqual({ flag: ms, watchdog: ms })
  },
)

test.each(REFUSED)('%s is refused everywhere: it is ambiguous or meaningless', async text => {
  expect(Object.values(await written(text)).filter(limit => limit !== undefined)).toEqual([])
  expect(asSetting(text)).toEqual({ flag: undefined, watchdog: undefined })
})
