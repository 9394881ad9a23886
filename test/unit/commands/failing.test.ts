import { describe, expect, test } from 'vitest'
import { cli, json, newWorld, statuses, type World } from './support.ts'

const TEMPLATE = `
root: Delivery
on-failure: compensate
steps:
  - { name: A, undo: UndoA, attempt-timeout: 30s, retry: 5 2s..1m }
  - { name: B, undo: UndoB }
`

/** Templates by path. */
const files: Record<string, string> = {}

function template(text: string): string {
  const path = `order-${Object.keys(files).length}.yaml`
  files[path] = text
  return path
}

async function run(world: World, ...lines: readonly string[]): Promise<void> {
  for (const line of lines) expect(await cli(world, line.split(' '), { files }), line).toMatchObject({ exit: 0 })
}

async function lcOf(world: World, id: string) {
  const { events } = json((await cli(world, ['show', 's', '-o', 'json'])).stdout) as {
    events: Record<string, unknown>[]
  }
  return events.find(event => event.id === id)
}

describe('a stream of a template that compensates', () => {
  const made = async () => {
    const world = newWorld()
    await run(
      world,
      `init s --from ${template(TEMPLATE)}`,
      'event start s 01.00 --owner w',
      'event complete s 01.00 --owner w',
    )
    return world
  }

  test('undoes what was done when a step fails, and lists and shows say so', async () => {
    const world = await made()
    await run(world, 'event fail s 01.01 -m no-drone')
    expect(await statuses(world, 's')).toMatchObject({ '00': 'inprocess', '02.00': 'inprocess', '02.01.00': 'init' })
    expect((await cli(world, ['ls', '--outcome', 'compensating', '-o', 'name'])).stdout).toBe('s\n')
    expect(await lcOf(world, '02.01.00')).toMatchObject({ name: 'UndoA', ref: '01.00', undoes: '01.00', unsure: false })
    await run(world, 'event complete s 02.01.00')
    expect((await cli(world, ['ls', '--outcome', 'compensated', '-o', 'name'])).stdout).toBe('s\n')
    expect(json((await cli(world, ['show', 's', '-o', 'json'])).stdout)).toMatchObject({
      status: 'aborted',
      outcome: 'compensated',
      onFailure: 'compensate',
    })
    expect((await cli(world, ['retry', 's'])).stderr).toContain('[compensated]')
  })

  test('undoes what was done when it is canceled, unless --no-compensate is given', async () => {
    const world = await made()
    await run(world, 'cancel s -m stop')
    expect(await statuses(world, 's')).toMatchObject({ '00': 'inprocess', '02.01.00': 'init' })
    const other = await made()
    await run(other, 'abort s --no-compensate')
    expect(await statuses(other, 's')).toEqual({ '00': 'aborted', '01.00': 'completed', '01.01': 'canceled' })
  })

  test('that is canceled says that it begins to undo, and how many others ended', async () => {
    const world = await made()
    const { stdout } = await cli(world, ['cancel', 's', '-m', 'stop'])
    expect(stdout).toContain('✓ s  begins to undo what it did  v')
    const many = await made()
    const ran = await cli(many, ['cancel', '--all', '--yes', '-m', 'stop', '-o', 'text'])
    expect(ran.stdout + ran.stderr).toContain('begins to undo what it did, with 1 more event')
  })

  test('that is undoing is not ended by cancel --no-compensate, and rm says what ends it', async () => {
    const world = await made()
    await run(world, 'cancel s -m stop')
    expect((await cli(world, ['cancel', 's', '-m', 'stop'])).stdout).toContain('already so')
    const refused = await cli(world, ['cancel', 's', '--no-compensate', '-m', 'now'])
    expect(refused).toMatchObject({ exit: 5, stdout: '' })
    expect(refused.stderr).toMatch(/abort ends that by force +\[compensating\]/)
    expect((await cli(world, ['rm', 's', '--yes'])).stderr).toContain('abort ends that by force')
    await run(world, 'abort s -m now')
    expect(await statuses(world, 's')).toMatchObject({ '00': 'aborted' })
  })

  test('is critical in check when it could not', async () => {
    const world = await made()
    await run(world, 'abort s -m wrong', 'abort s -m by-force')
    const ran = await cli(world, ['check', '-o', 'json'])
    expect(ran.exit).toBe(2)
    const { checks } = json(ran.stdout) as { checks: readonly { name: string }[] }
    expect(checks.find(({ name }) => name === 'undo')).toMatchObject({ status: 'critical', value: 1 })
    await run(world, 'retry s -m again')
    expect(await statuses(world, 's')).toMatchObject({ '00': 'inprocess', '02.01.00': 'init' })
  })
})

describe('event fail --transient', () => {
  test('leaves the event waiting for its next attempt', async () => {
    const world = newWorld()
    await run(world, 'init s --fork A --retries 3 --backoff 2s..1m', 'event start s 01.00 --owner w')
    const ran = await cli(world, ['event', 'fail', 's', '01.00', '--owner', 'w', '--transient', '-m', '503'])
    expect(ran.stdout).toContain('✓ s 01.00  failed')
    expect(await lcOf(world, '01.00')).toMatchObject({ status: 'inprocess', attempt: 2, retry: '3 2s..1m', msg: '503' })
    expect((await cli(world, ['event', 'start', 's', '01.00'])).stderr).toContain('[waiting]')
  })

  test.each([
    ['init s --fork A --retries 0', 'the first attempt counts'],
    ['init s --fork A --backoff 1m..2s', 'the longest pause is shorter than the first'],
    ['init s --on-failure explode', '--on-failure'],
    ['event fail s 00 --retries 3', 'need --transient'],
    ['event skip s 00', 'skip needs a reason'],
    [`init s --from ${template('retry: 0')}`, 'the first attempt counts'],
    [`init s --from ${template('on-failure: explode')}`, 'on-failure'],
    [`init s --from ${template('steps: [{ name: A, retry: 5 1m..2s }]')}`, 'the longest pause is shorter'],
    [`init s --from ${template('steps: [{ name: A, attempt-timeout: 30 }]')}`, 'attempt-timeout'],
  ])('%s is an error of usage, and nothing is changed', async (line, message) => {
    const world = newWorld()
    const ran = await cli(world, line.split(' '), { files })
    expect(ran.exit).toBe(2)
    expect(ran.stderr).toContain(message)
    expect((await cli(world, ['ls', '-o', 'name'])).stdout).toBe('')
  })
})

describe('event skip', () => {
  test('lets a blocked stream go on', async () => {
    const world = newWorld()
    await run(world, 'init s --steps A,B --on-failure block', 'event fail s 01.00 -m no-stock')
    expect((await cli(world, ['ls', '--outcome', 'blocked', '-o', 'name'])).stdout).toBe('s\n')
    expect((await cli(world, ['show', 's'])).stdout).toContain('blocked')
    await run(world, 'event skip s 01.00 -m by-hand')
    expect(await statuses(world, 's')).toEqual({ '00': 'inprocess', '01.00': 'aborted', '01.01': 'init' })
    expect((await cli(world, ['ls', '--outcome', 'blocked', '-o', 'name'])).stdout).toBe('')
    expect(await lcOf(world, '01.00')).toMatchObject({ skipped: expect.stringContaining('T') })
  })

  test.each([
    ['what did not fail', 'block', '01.01', 'not-failed'],
    ['in a stream that does not block', 'continue', '01.00', 'not-blocked'],
  ])('is refused for %s', async (_, policy, id, code) => {
    const world = newWorld()
    await run(world, `init s --steps A,B --fork C --on-failure ${policy}`, 'event fail s 02.00')
    const ran = await cli(world, ['event', 'skip', 's', id.replace('01.', '02.'), '-m', 'why'])
    expect(ran.exit).toBe(5)
    expect(ran.stderr).toContain(`[${code}]`)
  })
})
