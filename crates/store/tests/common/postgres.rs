//! A PostgreSQL server of the tests' own: started on first use, gone when the tests are, whoever ends them.

use std::io::Write;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// A running server.
pub struct Server {
    programs: PathBuf,
    folder: PathBuf,
    port: u16,
    /// Stops the server when the tests' process ends and its input with it.
    _guard: Child,
}

/// Runs the server until the input ends, then removes its folder.
const GUARD: &str = r#"
"$1/postgres" -D "$2/data" -p "$3" -k "$2" -c listen_addresses=127.0.0.1 -c fsync=off $4 >"$2/log" 2>&1 &
trap '' INT TERM
cat >/dev/null
"$1/pg_ctl" -D "$2/data" -m immediate stop >/dev/null 2>&1
rm -rf "$2"
"#;

impl Server {
    /// Starts a server; none, with the reason printed, where PostgreSQL is not installed.
    pub fn start() -> Option<Self> {
        Self::start_with("")
    }

    /// As [`Server::start`], with more options.
    pub fn start_with(options: &str) -> Option<Self> {
        let Some(programs) = programs() else {
            assert!(
                std::env::var_os("MANYHANDS_REQUIRE_POSTGRES").is_none(),
                "PostgreSQL is required and not installed"
            );
            eprintln!("skipped: tests on PostgreSQL (it is not installed; ./test installs it)");
            return None;
        };
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let folder = std::env::temp_dir().join(format!("manyhands-postgres-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        if let Some((user, group)) = user() {
            std::os::unix::fs::chown(&folder, Some(user), Some(group)).unwrap();
        }
        let data = folder.join("data");
        let mut init = unprivileged(&programs.join("initdb"));
        let made =
            init.arg("-D").arg(&data).args(["-U", "manyhands", "-A", "trust", "--no-sync", "-E", "UTF8"]).output();
        let made = made.unwrap();
        assert!(made.status.success(), "initdb: {}", String::from_utf8_lossy(&made.stderr));
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let mut guard = unprivileged(Path::new("/bin/sh"));
        guard.args(["-c", GUARD, "guard"]).arg(&programs).arg(&folder).arg(port.to_string()).arg(options);
        let guard = guard.stdin(Stdio::piped()).process_group(0).spawn().unwrap();
        let server = Self { programs, folder, port, _guard: guard };
        server.wait();
        Some(server)
    }

    /// A new, empty database.
    pub fn database(&self) -> String {
        self.database_like("template1")
    }

    /// A new database with all that another one has, to which nobody is connected.
    pub fn database_like(&self, template: &str) -> String {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let name = format!("test{}", COUNT.fetch_add(1, Ordering::Relaxed));
        self.sql("postgres", &format!("CREATE DATABASE {name} TEMPLATE {template}"));
        self.url(&name)
    }

    /// Waits until nobody is connected to a database any more.
    #[allow(dead_code)]
    pub fn wait_until_alone(&self, database: &str) {
        while self.number(&format!("SELECT count(*) FROM pg_stat_activity WHERE datname = '{database}'")) > 0 {
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    pub fn url(&self, database: &str) -> String {
        format!("postgres://manyhands@127.0.0.1:{}/{database}", self.port)
    }

    /// A user who has to give a password, over this kind of connection; the others do not.
    #[allow(dead_code)]
    pub fn user_with_password(&self, user: &str, password: &str, connection: &str) {
        let rules = self.folder.join("data/pg_hba.conf");
        let others = std::fs::read_to_string(&rules).unwrap();
        let own = format!("{connection} all {user} 127.0.0.1/32 scram-sha-256\nhost all {user} 127.0.0.1/32 reject\n");
        std::fs::write(&rules, own + &others).unwrap();
        self.sql("postgres", &format!("CREATE ROLE {user} LOGIN PASSWORD '{password}'"));
        self.reload();
    }

    /// Lets the server encrypt, with this certificate and key.
    #[allow(dead_code)]
    pub fn encrypt(&self, certificate: &str, key: &str) {
        for (name, text) in [("server.crt", certificate), ("server.key", key)] {
            let path = self.folder.join("data").join(name);
            std::fs::write(&path, text).unwrap();
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
            if let Some((user, group)) = user() {
                std::os::unix::fs::chown(&path, Some(user), Some(group)).unwrap();
            }
        }
        self.sql("postgres", "ALTER SYSTEM SET ssl = on");
        self.reload();
    }

    fn reload(&self) {
        self.sql("postgres", "DO $$ BEGIN PERFORM pg_reload_conf(); END $$");
    }

    /// A PgBouncer in front of it that hands each transaction to one of three connections; none, with the reason printed,
    /// where it is not installed.
    #[allow(dead_code)]
    pub fn pooler(&self) -> Option<Pooler> {
        let program = Path::new("/usr/sbin/pgbouncer");
        if !program.exists() {
            assert!(std::env::var_os("MANYHANDS_REQUIRE_POOLER").is_none(), "PgBouncer is required and not installed");
            eprintln!("skipped: PostgreSQL behind a pooler (PgBouncer is not installed; ./test installs it)");
            return None;
        }
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let (settings, log) = (self.folder.join("pooler.ini"), self.folder.join("pooler.log"));
        let text = format!(
            "[databases]\n* = user=manyhands host=127.0.0.1 port={}\n[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {port}\n\
             unix_socket_dir =\nauth_type = any\npool_mode = transaction\ndefault_pool_size = 3\nlogfile = {}\n",
            self.port,
            log.display()
        );
        std::fs::write(&settings, text).unwrap();
        let child = unprivileged(program).arg("-q").arg(&settings).stderr(Stdio::null()).spawn().unwrap();
        let pooler = Pooler { port, child };
        for _ in 0..200 {
            if std::net::TcpStream::connect(("127.0.0.1", port)).is_ok() {
                return Some(pooler);
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        panic!("PgBouncer did not start: {:?}", std::fs::read_to_string(log));
    }

    /// The folder of its socket.
    #[allow(dead_code)]
    pub fn socket(&self) -> &Path {
        &self.folder
    }

    /// Runs SQL by the server's own client.
    pub fn sql(&self, database: &str, sql: &str) {
        let mut psql = Command::new(self.programs.join("psql"));
        psql.args(["-h", "127.0.0.1", "-U", "manyhands", "-p", &self.port.to_string(), "-q", "-d", database]);
        let mut psql = psql.stdin(Stdio::piped()).spawn().unwrap();
        psql.stdin.take().unwrap().write_all(sql.as_bytes()).unwrap();
        assert!(psql.wait().unwrap().success(), "{sql}");
    }

    /// Stops the server at once, as a crash would, and starts it again.
    #[allow(dead_code)]
    pub fn restart(&self) {
        let mut control = unprivileged(&self.programs.join("pg_ctl"));
        control.arg("-D").arg(self.folder.join("data")).args(["-m", "immediate", "-w", "stop"]);
        assert!(control.stdout(Stdio::null()).status().unwrap().success());
        let options =
            format!("-p {} -k {} -c listen_addresses=127.0.0.1 -c fsync=off", self.port, self.folder.display());
        let mut control = unprivileged(&self.programs.join("pg_ctl"));
        control.arg("-D").arg(self.folder.join("data")).arg("-l").arg(self.folder.join("log2"));
        control.args(["-w", "-o", &options, "start"]).stdout(Stdio::null()).stderr(Stdio::null());
        assert!(control.status().unwrap().success());
        self.wait();
    }

    /// Stops the server's processes where they are, or lets them go on.
    #[allow(dead_code)]
    pub fn signal_all(&self, signal: &str) {
        let data = self.folder.join("data").join("postmaster.pid");
        let first: u32 = std::fs::read_to_string(data).unwrap().lines().next().unwrap().parse().unwrap();
        let children = std::fs::read_to_string(format!("/proc/{first}/task/{first}/children")).unwrap_or_default();
        let all: Vec<String> = children.split_whitespace().map(str::to_string).chain([first.to_string()]).collect();
        // Processes that have ended meanwhile are no matter.
        let _ = Command::new("kill").arg(signal).args(&all).stderr(Stdio::null()).status().unwrap();
    }

    /// How many transactions a database has seen.
    #[allow(dead_code)]
    pub fn transactions(&self, database: &str) -> u64 {
        self.number(&format!("SELECT xact_commit + xact_rollback FROM pg_stat_database WHERE datname = '{database}'"))
    }

    /// The number that a query gives.
    #[allow(dead_code)]
    fn number(&self, query: &str) -> u64 {
        let mut psql = Command::new(self.programs.join("psql"));
        psql.args(["-h", "127.0.0.1", "-U", "manyhands", "-p", &self.port.to_string(), "-At", "-d", "postgres", "-c"]);
        psql.arg(query);
        String::from_utf8(psql.output().unwrap().stdout).unwrap().trim().parse().unwrap()
    }

    fn wait(&self) {
        for _ in 0..600 {
            let mut ready = Command::new(self.programs.join("pg_isready"));
            ready.args(["-h", "127.0.0.1", "-p", &self.port.to_string(), "-q"]);
            if ready.status().unwrap().success() {
                return;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        panic!("PostgreSQL did not start: {:?}", std::fs::read_to_string(self.folder.join("log")));
    }
}

/// A running PgBouncer.
pub struct Pooler {
    port: u16,
    child: Child,
}

impl Pooler {
    #[allow(dead_code)]
    pub fn url(&self, database: &str) -> String {
        format!("postgres://manyhands@127.0.0.1:{}/{database}?sslmode=disable", self.port)
    }
}

impl Drop for Pooler {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Where PostgreSQL's programs are.
fn programs() -> Option<PathBuf> {
    let installed = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let mut folders: Vec<PathBuf> = installed.map(|version| version.path().join("bin")).collect();
    folders.sort();
    let path = std::env::var_os("PATH").unwrap_or_default();
    folders.extend(std::env::split_paths(&path));
    let has_all = |folder: &PathBuf| ["initdb", "postgres", "pg_ctl", "psql"].iter().all(|p| folder.join(p).exists());
    folders.into_iter().rev().find(has_all)
}

/// A command that does not run as root, which PostgreSQL refuses to.
fn unprivileged(program: &Path) -> Command {
    let mut command = Command::new(program);
    command.current_dir("/");
    if let Some((user, group)) = user() {
        command.uid(user).gid(group);
    }
    command
}

/// For root: another user and its group.
pub fn user() -> Option<(u32, u32)> {
    let is_root = std::fs::metadata("/proc/self").is_ok_and(|own| std::os::unix::fs::MetadataExt::uid(&own) == 0);
    let users = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
    let line = |name: &str| users.lines().find(|line| line.starts_with(&format!("{name}:"))).map(str::to_string);
    let line = line("postgres").or_else(|| line("nobody")).filter(|_| is_root)?;
    let numbers: Vec<u32> = line.split(':').skip(2).take(2).map(|number| number.parse().unwrap()).collect();
    Some((numbers[0], numbers[1]))
}
