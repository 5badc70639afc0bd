//! What the nucleus and the tools know instances for.

/// What the nucleus and the tools know an instance for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Blocks and wakes threads.
    Scheduler,
    /// Takes the interrupts of devices.
    Interrupts,
    /// Learns of faults, restarts.
    Supervisor,
    /// Frames and page tables.
    Memory,
    /// Makes portals at run time.
    Portals,
    /// Finds exports by name.
    Names,
    /// Resets and sets up the devices of confined drivers.
    Devices,
    /// Reads the logs of all instances.
    Logs,
    /// Reads the packages of the image to others.
    ShelfKeeper,
    /// Loads packages, whose code it finds on the shelf as well.
    Loader,
    /// Waits for interrupts when nothing else runs.
    Idle,
}

impl Role {
    /// All roles.
    pub const ALL: [Role; 11] = [
        Role::Scheduler,
        Role::Interrupts,
        Role::Supervisor,
        Role::Memory,
        Role::Portals,
        Role::Names,
        Role::Devices,
        Role::Logs,
        Role::ShelfKeeper,
        Role::Loader,
        Role::Idle,
    ];

    /// Its key in the table `[system]`.
    pub const fn key(self) -> &'static str {
        match self {
            Role::Scheduler => "scheduler",
            Role::Interrupts => "interrupts",
            Role::Supervisor => "supervisor",
            Role::Memory => "memory",
            Role::Portals => "portals",
            Role::Names => "names",
            Role::Devices => "devices",
            Role::Logs => "logs",
            Role::ShelfKeeper => "shelf_keeper",
            Role::Loader => "loader",
            Role::Idle => "idle",
        }
    }

    /// Whether an instance that holds it is essential if the description does not say.
    pub const fn is_essential(self) -> bool {
        !matches!(self, Role::Logs | Role::ShelfKeeper | Role::Loader)
    }

    /// Whether calls to it run to completion on the hart's own stack.
    pub const fn runs_to_completion(self) -> bool {
        matches!(self, Role::Scheduler | Role::Interrupts)
    }
}

/// The instance of each role, as an index into [`System::instances`](crate::model::System::instances).
#[derive(Clone, Copy, Debug, Default)]
pub struct Roles {
    /// Every system has a scheduler.
    pub scheduler: usize,
    /// Present in every system in which an instance has a device with an interrupt.
    pub interrupts: Option<usize>,
    /// Optional.
    pub supervisor: Option<usize>,
    /// Optional.
    pub memory: Option<usize>,
    /// Optional.
    pub portals: Option<usize>,
    /// Optional.
    pub names: Option<usize>,
    /// Present in every system in which an instance has a virtio device of a known kind.
    pub devices: Option<usize>,
    /// Optional; without it no instance has a log.
    pub logs: Option<usize>,
    /// Optional; without it nobody sees what is on the shelf.
    pub shelf_keeper: Option<usize>,
    /// Optional.
    pub loader: Option<usize>,
    /// Optional.
    pub idle: Option<usize>,
}

impl Roles {
    /// The instance of a role.
    pub fn get(&self, role: Role) -> Option<usize> {
        match role {
            Role::Scheduler => Some(self.scheduler),
            Role::Interrupts => self.interrupts,
            Role::Supervisor => self.supervisor,
            Role::Memory => self.memory,
            Role::Portals => self.portals,
            Role::Names => self.names,
            Role::Devices => self.devices,
            Role::Logs => self.logs,
            Role::ShelfKeeper => self.shelf_keeper,
            Role::Loader => self.loader,
            Role::Idle => self.idle,
        }
    }
}
