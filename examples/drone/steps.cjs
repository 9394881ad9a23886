// The steps of a delivery in their order: what does each, what undoes it, and the service that both ask.
exports.STEPS = [
  { name: 'CheckAccount', undo: 'ReleaseAccount', service: 'account', refusal: 'the account is frozen' },
  { name: 'CreatePackage', undo: 'RemovePackage', service: 'package', refusal: 'the package is too heavy' },
  { name: 'CheckCarrier', undo: 'ReleaseCarrier', service: 'carrier', refusal: 'no carrier goes there' },
  { name: 'ScheduleDrone', undo: 'CancelDrone', service: 'drone', refusal: 'no drone is free' },
  { name: 'CreateDelivery', undo: 'RemoveDelivery', service: 'delivery', refusal: 'the address is unknown' },
]
