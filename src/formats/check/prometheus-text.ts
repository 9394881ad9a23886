import { visibleText } from '../../stream/text.ts'

/** One value that goes up and down, with its labels. */
export interface Sample {
  readonly labels?: { readonly [label: string]: string | undefined }
  readonly value: number
}

/** What is measured, in a unit that its name ends with. */
export interface Gauge {
  readonly name: string
  readonly help: string
  readonly samples: readonly Sample[]
}

/**
 * The text format of Prometheus (https://prometheus.io/docs/instrumenting/exposition_formats). Gauges without samples are
 * left out, labels without a value too. Texts of strangers cannot leave their label.
 */
export function exposition(gauges: readonly Gauge[]): string {
  return gauges
    .filter(({ samples }) => samples.length > 0)
    .flatMap(({ name, help, samples }) => [
      `# HELP ${name} ${help}`,
      `# TYPE ${name} gauge`,
      ...samples.map(sample => `${name}${labelsText(sample)} ${sample.value}`),
    ])
    .map(line => `${line}\n`)
    .join('')
}

function labelsText({ labels = {} }: Sample): string {
  const pairs = Object.entries(labels).flatMap(([label, text]) => (text ? [`${label}="${escaped(text)}"`] : []))
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`
}

/** No text has a line break here: `visibleText` shows it as a sign. */
function escaped(text: string): string {
  return visibleText(text.toWellFormed()).replace(/[\\"]/g, '\\$&')
}
