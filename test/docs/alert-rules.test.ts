import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { openSubscription } from '../../src/subscriptions/subscription.ts'
import { openMetrics } from '../../src/watchdog/metrics/metrics.ts'
import { cli, newWorld } from '../unit/commands/support.ts'

interface Rule {
  readonly alert: string
  readonly expr: string
  readonly for?: string
  readonly labels?: Readonly<Record<string, string>>
  readonly annotations?: Readonly<Record<string, string>>
}

function rulesIn(name: string): Rule[] {
  const text = readFileSync(new URL(`../../examples/prometheus/${name}`, import.meta.url), 'utf8')
  const { groups } = parse(text) as { readonly groups: readonly { readonly name: string; readonly rules: Rule[] }[] }
  return groups.flatMap(({ rules }) => rules)
}

/** The metrics in a text of the Prometheus format, with the values of each label. */
function metricsIn(text: string): Map<string, Map<string, Set<string>>> {
  const metrics = new Map<string, Map<string, Set<string>>>()
  for (const [, name = ''] of text.matchAll(/^# TYPE (\S+) /gm)) metrics.set(name, new Map())
  for (const [, name = '', labels = ''] of text.matchAll(/^(\w+)(?:\{(.*)\})? \S+$/gm)) {
    const known = metrics.get(name) ?? new Map<string, Set<string>>()
    metrics.set(name, known)
    for (const [, label = '', value = ''] of labels.matchAll(/(\w+)="([^"]*)"/g)) {
      known.set(label, (known.get(label) ?? new Set()).add(value))
    }
  }
  return metrics
}

/** Whether every bracket of an expression has its partner. */
function isBalanced(expr: string): boolean {
  const closing: string[] = []
  for (const [sign] of expr.replace(/"[^"]*"/g, '').matchAll(/[(){}[\]]/g)) {
    const at = '({['.indexOf(sign)
    if (at >= 0) closing.push(')}]'.charAt(at))
    else if (closing.pop() !== sign) return false
  }
  return closing.length === 0
}

async function ofCheck(): Promise<string> {
  const world = newWorld()
  await cli(world, ['init', 'a', '--fork', 'Pay'])
  await cli(world, ['inbox', 'create', 'orders'])
  const spec = { name: 'billing', match: [], notMatch: [], ops: [], eventNames: [], doneOnly: false, shards: 1 }
  await openSubscription(world.store, spec, 0, 'ann')
  return (await cli(world, ['check', '-o', 'prometheus'])).stdout
}

async function ofWatchdog(): Promise<string> {
  const metrics = await openMetrics({ version: '1', nowMs: () => 0 })
  try {
    return await metrics.text()
  } finally {
    metrics.close()
  }
}

describe.each([
  ['check.yaml', 'leasectl_check_', ofCheck],
  ['watchdog.yaml', 'leasectl_watchdog_', ofWatchdog],
])('examples/prometheus/%s', (name, prefix, textOf) => {
  const rules = rulesIn(name)

  test('Every rule has a name of its own, an expression, and a duration that Prometheus reads.', () => {
    expect(rules.length).toBeGreaterThan(5)
    expect(new Set(rules.map(({ alert }) => alert)).size).toBe(rules.length)
    for (const rule of rules) {
      expect(rule.alert).toMatch(/^[A-Za-z]\w*$/)
      expect(isBalanced(rule.expr), rule.alert).toBe(true)
      expect(rule.for ?? '1m', rule.alert).toMatch(/^\d+[smhd]$/)
    }
  })

  test('Every rule is about metrics that exist, with labels and values that exist.', async () => {
    const metrics = metricsIn(await textOf())
    for (const { alert, expr } of rules) {
      const used = [...expr.matchAll(/(leasectl_\w+)(?:\{([^}]*)\})?/g)]
      expect(used.length, alert).toBeGreaterThan(0)
      for (const [, metric = '', matchers = ''] of used) {
        expect(metric).toMatch(new RegExp(`^${prefix}`))
        expect([...metrics.keys()], alert).toContain(metric)
        for (const [, label = '', value = ''] of matchers.matchAll(/(\w+)="([^"]*)"/g)) {
          expect([...(metrics.get(metric)?.get(label) ?? [])], `${alert}: ${label}`).toContain(value)
        }
      }
    }
  })

  test('Failures, silent workers, waiting events and the backlog of a step have a rule.', () => {
    const all = rules.map(({ expr }) => expr).join('\n')
    for (const subject of [
      /failed_streams/,
      /abandoned_streams/,
      /ready_(oldest_seconds)|oldest_ready/,
      /step.*ready|ready_events/,
    ]) {
      expect(all).toMatch(subject)
    }
  })

  test('Annotations name labels that the metrics have.', async () => {
    const metrics = metricsIn(await textOf())
    for (const { expr, annotations = {} } of rules) {
      const labels = new Set(
        [...expr.matchAll(/leasectl_\w+/g)].flatMap(([metric]) => [...(metrics.get(metric)?.keys() ?? [])]),
      )
      for (const [, label = ''] of Object.values(annotations)
        .join(' ')
        .matchAll(/\$labels\.(\w+)/g)) {
        expect([...labels]).toContain(label)
      }
    }
  })
})
