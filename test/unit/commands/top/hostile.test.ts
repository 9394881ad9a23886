import { describe, expect, test } from 'vitest'
import { StoreUnreachable } from '../../../../src/store/errors.ts'
import type { StreamRow, StreamStore } from '../../../../src/store/store.ts'
import type { Ports } from '../../../../src/tui/ports.ts'
import { storeWith } from '../store-with.ts'
import { cli, NOON, newWorld } from '../support.ts'
import { carry, look, never, portsOver } from './support.ts'

/** Sets the clipboard, clears the screen, reverses text. */
const HOSTILE = '\u009d52;c;cm0gLXJm\u009c\u009b2J\u202edesrever\u2066\u2028x\u001b]52;c;cm0gLXJm\u0007\u001b[2J\r\b\t'
const CONTROL = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/

const HOLDER = { by: HOSTILE, host: HOSTILE, pid: 1, purpose: HOSTILE, sinceMs: NOON }

/** A stream whose name, texts and holder are hostile. */
async function hostileStore(): Promise<StreamStore> {
  const world = newWorld()
  await cli(world, ['init', 's', '--fork', 'A'])
  const xml = HOSTILE.replaceAll(/[\u001b\u0007\b\r]/g, '')
  await cli(world, ['event', 'start', 's', '01.00', '--owner', xml.replaceAll(/[\t]/g, '')])
  const soiled = <Row extends StreamRow>(row: Row): Row => {
    const summary = row.summary && {
      ...row.summary,
      status: HOSTILE,
      lastBy: HOSTILE,
      root: HOSTILE,
      waitingOn: [HOSTILE],
    }
    return { ...row, name: HOSTILE, lease: { state: 'leased', holder: HOLDER }, ...(summary && { summary }) }
  }
  return storeWith(world.store, {
    async *list(query) {
      for await (const page of world.store.list(query)) yield page.map(soiled)
    },
    read: async () => {
      const stored = await world.store.read('s')
      return stored && soiled(stored)
    },
    update: async () => ({ kind: 'held', waitedMs: 0, lease: { state: 'leased', holder: HOLDER } }),
    breakLease: async () => {
      throw new StoreUnreachable(HOSTILE, { hint: HOSTILE })
    },
  })
}

const hostilePorts = async (): Promise<Ports> => portsOver(newWorld(), { store: await hostileStore() })

function expectSafe(lines: readonly string[]): void {
  for (const line of lines) {
    expect(line).not.toMatch(CONTROL)
    expect(line).not.toContain('\n')
  }
}

describe('no foreign control byte leaves the ports', () => {
  test.each(['cancel', 'abort', 'retry', 'break'] as const)('%s', async verb => {
    const ports = await hostilePorts()
    for (const targets of [
      [{ stream: HOSTILE }],
      [{ stream: HOSTILE, event: '01.00' }],
      [{ stream: HOSTILE, event: HOSTILE }],
    ]) {
      const preview = await look(ports, verb, targets)
      const { confirm } = preview
      expectSafe([preview.question, ...preview.affected, ...preview.facts, preview.command('why')])
      if (confirm.kind === 'type') expectSafe([confirm.text, confirm.what])
      const { outcomes, end } = await carry(ports, preview)
      expectSafe([...outcomes.map(({ text }) => text), ...end.lines])
    }
  })

  test('explain, commandFor, runLine', async () => {
    const ports = await hostilePorts()
    expectSafe([ports.explain(new StoreUnreachable(HOSTILE, { hint: HOSTILE })).message])
    expectSafe([ports.explain(new Error(HOSTILE)).message])
    for (const pane of ['tree', 'xml'] as const)
      expectSafe([ports.commandFor({ kind: 'stream', stream: HOSTILE, pane })])
    expectSafe([ports.commandFor({ kind: 'streams', filter: HOSTILE })])
    for (const line of [
      'ls -o wide',
      'ls -o name',
      'show s',
      'show s -o xml',
      'lease ls',
      `show '${HOSTILE}'`,
      HOSTILE,
    ])
      expectSafe((await ports.runLine(line, true, never)).lines)
  })
})

test.each([['top'], ['top', HOSTILE.replaceAll(/[\u0000-\u001f\u007f-\u009f]/g, '')]])(
  'the plain form of %j prints no control byte',
  async (...argv) => {
    const controller = new AbortController()
    const store = await hostileStore()
    let looks = 0
    const end = () => {
      if (++looks > 2) controller.abort('SIGTERM')
    }
    const counted = storeWith(store, {
      list: query => {
        end()
        return store.list(query)
      },
      read: name => {
        if (argv.length > 1) end()
        return store.read(name)
      },
    })
    const setting = { store: counted, signal: controller.signal }
    const ran = await cli(newWorld(), [...argv, '--interval', '1ms', '--color', 'never'], setting)
    expect(ran.stdout).toContain('cm0gLXJm')
    expect(ran.stdout + ran.stderr).not.toMatch(CONTROL)
  },
)
